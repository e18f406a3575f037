# The tiers of the test suite. `./dev test` runs the default tier, `./dev test --all` both tiers.
#
# A test belongs to the default tier unless a pattern of `long_tests` or `long_gpu_tests` matches its name. The patterns of
# `kept_tests` and `kept_gpu_tests` keep representatives of those suites in the default tier. The patterns are those of
# --gtest_filter. The test `tiers` (tests/check_tiers.cmake) verifies that the two tiers together are the whole suite,
# that no test is in both, and that every pattern matches a test.

# Studies that together use every feature of the kernels, each chosen for its feature and for a short run.
set(representative_configs
  phase_density        # no constraint; a density carried along the motion
  bouncing_ball        # one contact with restitution; accumulation; the Taylor method
  string_pendulum      # one string: release, free flight, jerk; dop853
  slung_load           # a string on a moving anchor; random inputs, watched events and measures
  knife_edge           # an equation in the velocities
  oneway_clutch        # an inequality in the velocities
  redundant_walls      # more constraints than can be independent: multipliers of least norm
  cart_geodetic        # a general variation instead of d'Alembert's
  impulse_string_wall  # imposed impulses, a shock in two constraints at once: the quadratic program
  three_balls)         # impacts that accumulate in several constraints

set(long_tests
  # Coverage of intervals over 400 repeats.
  "PickFreezeCoverage.*"
  # Known answers in the sizes of their statements, by the reference.
  "WholeCases/AnswerOnBackend.*"
  # All studies by all backends. Kept: the representatives.
  "Configs/EveryBackend.*"
  # All studies compiled by NVRTC and assembled for three architectures. Kept: four representatives.
  "Configs/CudaCompile.*"
  "CudaText.CompilesForTheOldestArchitecture"
  "Small/CudaRegisters.*"
  "Studies/CudaUndefined.*"
  # Twelve wrong formulas, each in two precisions. Kept: one formula of each path through the kernels.
  "Formulas/KernelError.*"
  # Ten wrong formulas of friction and limits. Kept: an impact and a change of mode.
  "Formulas/FrictionError.*"
  # Four wrong formulas that the audit must show, each compiled for itself. Kept: the energy law.
  "Formulas/PlantedFault.*"
  # Four linkages at twenty speeds, three tolerances and on two backends. Kept: the parallelogram.
  "All/Linkages.PassTheirSingularPositionsAtEverySpeed/*"
  # Members of all studies at five tolerances. Kept: a study with contacts and one with equations, and a
  # driven one on power series, whose work is less accurate than its motion.
  "Configs/SoundMembers.*"
  # Every case of friction and limits compiled for the CPU. Kept: a belt, a cable that breaks, a bounce.
  "Cpu/FrictionAnswer.*"
  # Imported robots on both backends and their checks. Kept: the cart-pole.
  "Examples/ImportedExample.*"
  # Two hundred pucks in a bowl. Kept: fewer of them.
  "Reference/PuckInABowl.*"
  "Cpu/PuckInABowl.*"
  # A million impacts with friction, fourteen systems. Kept: three systems with fewer, on the cpu.
  "Cpu/RandomImpacts.*"
  "Million/RandomImpacts.*"
  # Members without a unique motion. Kept: rods.
  "Of/UndecidedMotion.*"
  # Tests that compile programs of their own, five to ninety seconds each. Kept: one or two of each suite.
  "CpuBackend.OneByOneIsAsRightAsInPacks"
  "CpuBackend.ARodThatFallsOnATableLosesNoEvent"
  "CpuBackend.SharesTheLoadOfRedundantStringsAlsoInIntegrals"
  "Cpu/KnownAnswer.*"
  "BodyInvariance.SignOfTheQuaternion*"
  "Maurer.ManyConditionsAreSolvedRowByRowOnTheKernelsToo"
  "StatisticsCases.*"
  "StudyCases.AGaltonBoardHasNoPreferredSide"
  "StudyCases.TheLorentzGas*"
  "CoarseCheck.*"
  "SingleCheck.*"
  "Studies/AccumulationGap.*"
  "AccumulationGapSingle.*"
  "AccumulationOfBoth.*"
  "Flights.*"
  "Humps.*"
  "Jams.*"
  "Poles.*"
  "Kinks.*"
  "LongSystems.ARope*"
  "LongSystems.AChain*"
  "LongSystems.Chains*"
  "MotionFindings.*"
  "SoakFindings.*"
  "Configs/SingleContact.*"
  "InitialActiveSet.*"
  "Taylor.EveryRecurrenceFollowsTheMotion"
  "Taylor.AgreesWithTheReferenceWhereConditionsCloseAndOpen"
  # Forty members of a chaotic motion over a minute, three times each in the reference.
  "Accuracy.of_the_double_string_over_a_minute_*"
  # Runs that are interrupted, run out of something, or lose a rank, ten seconds and more each.
  "Mpi.AWorkerThat*"
  "Mpi.AnInterruptLeavesARunThatGoesOn"
  "CompilerFault.ADamagedCacheEntry*"
  "CompilerFault.AClockThatWasSetBackChangesNothing"
  "CudaTroubles.ADeviceWithoutMemoryForABlockIsReported"
  "CudaTroubles.ALostDeviceEndsARun*"
  "Resume.ShardsOfEverySampler*"
  # A report of every study.
  "Report.of_every_study_that_comes_along_can_be_written"
  # Every command line of the documentation, every verified case.
  "Documentation.EveryCommandLineRuns"
  "Documentation.TheVerifiedCasesHaveTheirDigits")

set(kept_tests
  "Examples/ImportedExample.*/cart_pole"
  "Of/UndecidedMotion.*/PushedRod"
  "Formulas/FrictionError.*/ConeOfImpacts"
  "Formulas/FrictionError.*/SignOfYield"
  "Cpu/RandomImpacts.*/Box"
  "Cpu/RandomImpacts.*/RodInSpace"
  "Cpu/RandomImpacts.*/FlatRod"
  "Reference/PuckInABowl.*/of_20"
  "Cpu/PuckInABowl.*/of_60"
  "Cpu/FrictionAnswer.*/F_belt"
  "Cpu/FrictionAnswer.*/L_cable_breaks"
  "Cpu/FrictionAnswer.*/F_ball_bounce_slip"
  "All/Linkages.PassTheirSingularPositionsAtEverySpeed/TwoCranks"
  "Configs/CudaCompile.*/bouncing_ball"        # contact
  "Configs/CudaCompile.*/knife_edge"           # condition on velocities
  "Configs/CudaCompile.*/cart_geodetic"        # general variation
  "Configs/CudaCompile.*/impulse_string_wall"  # quadratic program
  "Small/CudaRegisters.*/gpu_impact"
  "Studies/CudaUndefined.*/string_pendulum"
  "Formulas/KernelError.OfAMillionth*/Stages"            # the integrator
  "Formulas/KernelError.OfAMillionth*/Shock"             # the quadratic program
  "Formulas/KernelError.OfAMillionth*/FastEventRebound"  # events handled in registers
  "Formulas/PlantedFault.*/Acceleration"
  "Configs/SoundMembers.*/bouncing_ball"
  "Configs/SoundMembers.*/knife_edge"
  "Configs/SoundMembers.*/impact_oscillator"
  "Cpu/KnownAnswer.*/V_smallosc_flutter"
  "Cpu/KnownAnswer.*/V_complex_helix"
  "Cpu/KnownAnswer.*/Ma_8_cart_geodetic"
  "StatisticsCases.ALinearMotionCarriesAGaussianToAGaussian"
  "StatisticsCases.AGaussianSpeedMeetsAWall"
  "CoarseCheck.AReleaseBetweenUnequalMassesIsNotLate"
  "SingleCheck.DoesNotBlameFloatsForTheOrderOfHits"
  "Studies/AccumulationGap.*/*_reference"
  "Studies/AccumulationGap.*/ball_cpu"
  "Flights.PassTheirPlaceAtTheLeastDistance"
  "Flights.PassAPoleInFloatsToo"
  "Kinks.ManyInOneStudyAreToo"
  "Poles.ArePassedInFloats"
  "MotionFindings.NoBallFallsThroughAPegWithoutAStepBound"
  "SoakFindings.WhatRestsAtZeroDoesNotCrossItAndHidesNoContact"
  "Configs/SingleContact.*/bouncing_ball"
  "InitialActiveSet.IsThatOfTheGeneralWay")
foreach(config ${representative_configs})
  list(APPEND kept_tests "Configs/EveryBackend.*/*_${config}")
endforeach()

# Tests that need a device carry the label `gpu`, by their names.
set(gpu_tests "*gpu*" "*Gpu*" "*GPU*")
set(long_gpu_tests "Gpu/EveryBackend.*" "*Linkages.PassThemOnAGpu*" "*LightMasses.SwingOnAGpu*")
set(kept_gpu_tests)
foreach(config ${representative_configs})
  list(APPEND kept_gpu_tests "Gpu/EveryBackend.*/cuda_${config}")
endforeach()

# Seconds and studies of the drivers that run for as long as they are given.
set(fuzz_seconds 5)
set(fuzz_seconds_long 60)
set(soak_studies 1)
set(soak_studies_long 12)
