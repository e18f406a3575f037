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
  # A die with eight corners, 120 throws.
  "TumblingDie.*"
  # Studies of eight contacts.
  "BlocksOnABelt/ManyContacts.MoveAsEachBlockAlone/*"
  # Coverage of intervals over 400 repeats.
  "PickFreezeCoverage.*"
  # Known answers in the sizes of their statements, by the reference.
  "WholeCases/AnswerOnBackend.*"
  # All studies by all backends. Kept: the representatives.
  "Configs/EveryBackend.*"
  # All studies compiled by NVRTC and assembled for three architectures. Kept: one.
  "Configs/CudaCompile.*"
  "CudaText.CompilesForTheOldestArchitecture"
  "Small/CudaRegisters.*"
  "Studies/CudaUndefined.*"
  # Twelve wrong formulas, each in two precisions. Kept: one of the integrator.
  "Formulas/KernelError.*"
  # Ten wrong formulas of friction and limits.
  "Formulas/FrictionError.*"
  # Four wrong formulas that the audit must show, each compiled for itself. Kept: the energy law.
  "Formulas/PlantedFault.*"
  # Four linkages at twenty speeds, three tolerances and on two backends. Kept: a start in a singular position.
  "All/Linkages.PassTheirSingularPositionsAtEverySpeed/*"
  "All/Linkages.EndAtOnceWhereTheyStartInASingularPosition/*"
  # Members of all studies at five tolerances. Kept: a study with contacts.
  "Configs/SoundMembers.*"
  # Every case of friction and limits compiled for the CPU. Kept: a belt, a cable that breaks, a bounce.
  "Cpu/FrictionAnswer.*"
  # Every case of bodies compiled for the CPU. Kept: a top on its joint, a box that tips and slides.
  "Cpu/BodyAnswer.*"
  # Links that break, compiled for the CPU; all run by the reference. Kept: a pendulum on a ball joint.
  "BreakingLinksOnCpu.*"
  "NonspinningFrame.AgreesOnTheCpu"
  # Six bodies with random axes, each compiled for itself.
  "BodyLaws.AFreeBodyKeepsEnergyAndAngularMomentumWhateverItsAxes"
  # Known answers of sweeps, labels, records and indices compiled for the CPU; all run by the reference. Kept: labels,
  # a probability along a sweep.
  "Cases/AnswerOnBackend.*/cpu"
  "Backends/RecordsOnBackend.SideSkipFromAndKeepChooseTheRows/cpu"
  "Backends/RecordsOnBackend.AStroboscopeShowsALinearMap/cpu"
  # Statistics of whole ensembles with friction. Kept: by the reference.
  "Cpu/FrictionEnsembles.*"
  # Imported robots on both backends and their checks. Kept: the cart-pole.
  "Examples/ImportedExample.*"
  # Two hundred pucks in a bowl, and their check. Kept: fewer of them.
  "PuckInABowlCheck.*"
  "Reference/PuckInABowl.*"
  "Cpu/PuckInABowl.*"
  # A million impacts with friction, fourteen systems. Kept: one system with fewer, on the cpu.
  "Cpu/RandomImpacts.*"
  "Million/RandomImpacts.*"
  "Reference/RandomImpacts.CreateNoEnergy/CornerInSpace"
  "Reference/RandomImpacts.CreateNoEnergy/Table"
  # Members without a unique motion. Kept: rods.
  "Of/UndecidedMotion.*"
  # Tests that compile programs of their own, five to ninety seconds each. Kept: one or two of each suite.
  "CpuBackend.OneByOneIsAsRightAsInPacks"
  "CpuBackend.ARodThatFallsOnATableLosesNoEvent"
  "CpuBackend.SharesTheLoadOfRedundantStringsAlsoInIntegrals"
  "Configs/CheckEveryConfig.PassesOnTheReferenceItself/impact_bifurcation"
  "Rays.MeetTheFirstDiskOnTheirWay"
  "BodyInvariance.PowerSeriesGiveTheMotionOfABodyInSpace"
  "Taylor.FindsEveryBounceInStepsWithoutAnError"
  "Taylor.MembersDoNotDependOnTheirNeighbours"
  "LimitFindings.AGripThatMayBreakStopsAPointByAnImpulse"
  "FrictionFindings.FeetJoinedByARodComeToRestTogether"
  "FrictionFindings.AStickingContactTransfersTheShocksOfHopsLeftOut"
  "FrictionFindings.HopsLeftOutDissipateWhatFlightsDo"
  "FrictionFindings.AGripThatYieldsIsGoneWhenLifted"
  "CloseContacts.AreTakenInTheirOrder"
  "DependentContacts.AContactFarFromItsConeGoesOnStickingWhereAnotherSlides"
  "DependentContacts.ABladeAtRestWithoutAForceStaysClosed"
  "DependentContacts.TheReleaseOfAnotherContactDoesNotEndAStick"
  "DependentContacts.ImpulsesWithinTheToleranceMayBeListedByOneSideOnly"
  "DependentContacts.AWallThatTheFloorHoldsIsLeftWithTheSlide"
  "DependentContacts.SupportsUnderALoadThatGoesToAndFro"
  "DependentContacts.AWatchedSpeedDoesNotCrossZeroAtRest"
  "DependentContacts.FourLegsUnderALoadThatLeavesTheirBase"
  "DependentContacts.ABeamLeavesItsSupportsOneByOne"
  "VanishingSlips.StopInTimeWhereTheyTurn"
  "LockedMotion.TwoFeetOnABeltSlideWhenTheirFrictionIsSpent"
  "InterruptedHops.APoint*"
  "HopsLeftOut.HaveNoReactionOfAContactAtRest"
  "SlipsAtOneInstant.AContactOnItsConeByChoiceSticksWhereAnotherSlides"
  "LimitFindings.AGripThatBreaksActsInNoFurtherRound"
  "Cpu/SharedLoad.*"
  "Cpu/SlipOnset.EndsAtTheSameInstantAtEveryTolerance/*"
  "FrictionFindings.ARodThatBearsImpulses*"
  "FrictionFindings.ATetheredPuckPullsByItsSpeedBesideFeetAtRest"
  "FrictionFindings.ASpeedLimitHasNoPartInTheReboundOfAFloor"
  "FrictionFindings.ASlipGoesOnWhereTheNormalIsHorizontal"
  "FrictionFindings.ABladeRestsAtAWallWithoutForces"
  "FrictionFindings.BallsThatMeetInTheAirFallTogether"
  "FrictionFindings.ABrakeThatSlipsAtTheStartBrakesByItsForce"
  "FrictionFindings.AForceUnderWhichAStringBreaksAtOnceNeverActs"
  "FrictionFindings.AGripAcrossAWallDoesNotPressAgainstIt"
  "FrictionFindings.ARodOverloadedAtTheStartBreaksThere"
  "FrictionFindings.AStringReboundsAsFarAsItsImpulseReaches"
  "FrictionFindings.ImpactsOfManyRoundsEndAtRestOrApart"
  "FrictionFindings.SinglePrecisionAgreesWithTheReference"
  "Cpu/KnownAnswer.*"
  "BodyInvariance.SignOfTheQuaternion*"
  "Maurer.ManyConditionsAreSolvedRowByRowOnTheKernelsToo"
  "Maurer.DependentConditionsLeaveTheMultipliersOpenAndAreNotGuessed"
  "StatisticsCases.*"
  "StudyCases.AGaltonBoardHasNoPreferredSide"
  "StudyCases.TheLorentzGas*"
  "StudyCases.TwoHardDisksExertTheExactPressure"
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
  "Cpu/Outputs.*"
  "SoakFindings.*"
  "OnATautLine/LightMasses.SwingAboutTheLine/*"
  "Configs/SingleContact.*"
  "FreeImpactsAndSignals.*"
  "InitialActiveSet.*"
  "Taylor.EveryRecurrenceFollowsTheMotion"
  "Taylor.AgreesWithTheReferenceWhereConditionsCloseAndOpen"
  # Forty members of a chaotic motion over a minute, three times each in the reference.
  "Accuracy.of_the_double_string_over_a_minute_*"
  # Runs that are interrupted, run out of something, or lose a rank, ten seconds and more each.
  "Slurm.ThreeRanksGiveTheFilesOfOneRun"
  "Mpi.AWorkerThat*"
  "Mpi.AnInterruptLeavesARunThatGoesOn"
  "CompilerFault.ADamagedCacheEntry*"
  "CompilerFault.AClockThatWasSetBackChangesNothing"
  "CudaTroubles.ADeviceWithoutMemoryForABlockIsReported"
  "CudaTroubles.ALostDeviceEndsARun*"
  "Resume.ShardsOfEverySampler*"
  "Resume.ShardsAndInterruptedRunsOfPickFreeze*"
  "LeftOutMembers.AnInterruptedRunEndsInTheSameFilesWithAndWithoutLabels"
  "Ranks.AnyNumberOfRanksWritesTheFilesOfOne"
  # A report of every study.
  "Report.of_every_study_that_comes_along_can_be_written"
  # Pages in a browser, three to five seconds each. Kept: text that looks like a script, a study with hardly anything in
  # it, a sweep with friction.
  "ReportInBrowser.*"
  # Every command line of the documentation, every verified case, errors at three tolerances.
  "Documentation.EveryCommandLineRuns"
  "Documentation.TheVerifiedCasesHaveTheirDigits"
  "Documentation.TheErrorFallsWithTheTolerance")

set(kept_tests
  "BreakingLinksOnCpu.ABallJointLetsItsBobFlyAtATension"
  "Cpu/BodyAnswer.*/B_lagrange_top"
  "Cpu/BodyAnswer.*/F_box_tip_slide"
  "Cases/AnswerOnBackend.LabelsCombineWithOtherReductionsAndParameters/cpu"
  "Cases/AnswerOnBackend.TheChanceOfPassingALevelFallsAlongTheSweep/cpu"
  "OnATautLine/LightMasses.SwingAboutTheLine/0"
  "ReportInBrowser.of_a_study_with_evil_text_works_and_runs_none_of_it"
  "ReportInBrowser.of_a_study_with_hardly_anything_in_it_works"
  "ReportInBrowser.of_a_sweep_with_friction_works"
  "Examples/ImportedExample.*/cart_pole"
  "Of/UndecidedMotion.*/PushedRod"
  "Cpu/RandomImpacts.*/Box"
  "Reference/PuckInABowl.*/of_20"
  "Cpu/FrictionAnswer.*/F_belt"
  "Cpu/FrictionAnswer.*/L_cable_breaks"
  "Cpu/FrictionAnswer.*/F_ball_bounce_slip"
  "All/Linkages.EndAtOnceWhereTheyStartInASingularPosition/TwoCranks"
  "Configs/CudaCompile.*/cart_geodetic"
  "Small/CudaRegisters.*/gpu_impact"
  "Studies/CudaUndefined.*/string_pendulum"
  "Formulas/KernelError.OfAMillionth*/Stages"
  "Formulas/PlantedFault.*/Acceleration"
  "Configs/SoundMembers.*/bouncing_ball"
  "Cpu/KnownAnswer.*/V_smallosc_flutter"
  "Cpu/KnownAnswer.*/V_complex_helix"
  "Cpu/KnownAnswer.*/Ma_8_cart_geodetic"
  "StatisticsCases.ALinearMotionCarriesAGaussianToAGaussian"
  "SingleCheck.DoesNotBlameFloatsForTheOrderOfHits"
  "Studies/AccumulationGap.*/*_reference"
  "Studies/AccumulationGap.*/ball_cpu"
  "Kinks.ManyInOneStudyAreToo"
  "MotionFindings.NoBallFallsThroughAPegWithoutAStepBound"
  "Configs/SingleContact.*/bouncing_ball")
foreach(config ${representative_configs})
  list(APPEND kept_tests
    "Configs/EveryBackend.AgreesWithTheReference/*_${config}" "Configs/EveryBackend.GivesTheSameBits*/reference_${config}")
endforeach()
# The same bits however a run is cut: a contact, a string with outputs, the quadratic program.
foreach(config bouncing_ball slung_load impulse_string_wall)
  list(APPEND kept_tests "Configs/EveryBackend.GivesTheSameBits*/cpu_${config}")
endforeach()

# Tests that need a device carry the label `gpu`, by their names.
set(gpu_tests "*gpu*" "*Gpu*" "*GPU*")
set(long_gpu_tests "Gpu/EveryBackend.*" "*Linkages.PassThemOnAGpu*" "*LightMasses.SwingOnAGpu*")
set(kept_gpu_tests)
foreach(config ${representative_configs})
  list(APPEND kept_gpu_tests "Gpu/EveryBackend.*/cuda_${config}")
endforeach()

# Seconds and studies of the drivers that run for as long as they are given.
set(fuzz_seconds 3)
set(fuzz_seconds_long 60)
set(soak_studies 1)
set(soak_studies_long 12)
