package main

import (
	"context"
	"os"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// plays are the commands of plans that a commit runs: every other one, which its hash draws, and
// with THOROUGH=all or outside a repository all of them.
func plays(ctx context.Context) ([]step, error) {
	all, seed := plans(), commit(ctx)
	if os.Getenv(draw.Key) == draw.All || seed == unknown {
		return all, nil
	}
	var some []step
	for i := draw.Turn(seed, 2); i < len(all); i += 2 {
		some = append(some, all[i])
	}
	return some, nil
}

// plans are the commands that play more of what the test stage plays a part of: drawn schedules and
// storms, whose seeds lie behind those of the part, and a larger crowd. Bubbles have all processors
// here, and one in the test stage. Every other one of them takes about half of the time.
func plans() []step {
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
		storms("TestTasksStorms", "23"), // a tenth of these are of tasks
		storms("TestBubbleStorms", "24"),
		{line: more + "^Test(Election|BucketLosesWrites|AdoptedBucket|RemovedRoles|ClaimsTogether|BlamedSessions)$ " +
			"./propertytests/model/electionsim -args -sim.schedules 2000 -sim.seed 1001"},
		live("^TestTasksSchedulerLostAtEveryWrite$ ./propertytests/live -args -live.thirds 2,3"),
		{line: more + "^TestCrashAtEveryEffect$ ./propertytests/model/tasksim -args -tasksim.every"},
		live("^TestCandidatesAtRest$ ./propertytests/live -args -live.candidates 100"),
	}
}
