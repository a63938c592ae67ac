package main

// plays are the commands that play more of what the test stage plays a part of: drawn schedules and
// storms, whose seeds lie behind those of the part, and a larger crowd. Both together try a commit.
// Bubbles have all processors here, and one in the test stage.
func plays() []step {
	const more = filling + test + "-count 1 -run "
	const parallel = "NATSTEST_PROCESSORS=all"
	storms := func(name, hours string) step {
		return step{
			line: more + "^" + name + "$ ./propertytests/live/storms",
			env:  []string{"ROLEMANAGER_STORM_HOURS=" + hours, "ROLEMANAGER_STORM_SEED=1001", parallel},
		}
	}
	live := func(args string) step {
		return step{line: more + args, env: []string{parallel}}
	}
	return []step{
		{line: more + "^Test(Election|BucketLosesWrites|AdoptedBucket|RemovedRoles|ClaimsTogether|BlamedSessions)$ " +
			"./propertytests/model/electionsim -args -sim.schedules 2000 -sim.seed 1001"},
		storms("TestBubbleStorms", "24"),
		storms("TestTasksStorms", "23"), // a tenth of these are of tasks
		live("^TestTasksSchedulerLostAtEveryWrite$ ./propertytests/live -args -live.thirds 2,3"),
		{line: more + "^TestCrashAtEveryEffect$ ./propertytests/model/tasksim -args -tasksim.every"},
		live("^TestCandidatesAtRest$ ./propertytests/live -args -live.candidates 100"),
	}
}
