#!/usr/bin/env bash
# Joins the shards of array.sh into the results of the run. A missing shard, or one of another run, is an error.
#
#   sbatch --export=ALL,RESULTS=results/slung_load --dependency=afterok:<job of array.sh> docs/slurm/merge.sh
#SBATCH --job-name=zwang-merge
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --time=00:30:00
set -euo pipefail

zwang=${ZWANG:-zwang}
results=${RESULTS:?the folder for the results}

"$zwang" merge "$results".shards/* --out "$results" --overwrite "$@"
