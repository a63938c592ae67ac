package schedules

import (
	"fmt"
	"regexp"
)

// kind is one sort of schedules.
type kind struct {
	name, pkg string
	// rules are the directories of what is played: of the rules, and of the world that is simulated.
	rules []string
	// args play so many schedules from a seed on, with env beside this process's own environment.
	args func(first uint64, schedules int) []string
	env  func(first uint64, schedules int) []string
	// seeds is how many seeds that takes.
	seeds func(schedules int) int
	// usual is how many schedules a range has, if no other number is asked for.
	usual int
	// counter, where there is one, is what says how many were played: then args, env and usual have
	// virtual hours for schedules.
	counter string
	// Counters in what the test says, summed up.
	seconds, faults, terms []string
	// How the test tells of a violation: after how many of the schedules that are drawn by seed, or of
	// those that rapid draws when all of the others have gone well.
	bySeed, byRapid *regexp.Regexp
}

var kinds = []kind{
	{
		name: "elections", pkg: "propertytests/model/electionsim",
		rules: []string{"internal/protocol", "propertytests/model/electionsim"},
		args: func(first uint64, schedules int) []string {
			return []string{
				"-test.run=^TestElection$", fmt.Sprint("-sim.seed=", first), fmt.Sprint("-sim.schedules=", schedules),
				fmt.Sprint("-rapid.seed=", first),
			}
		},
		seeds:   func(schedules int) int { return schedules - schedules/3 }, // the others are drawn by rapid
		usual:   15_000,
		seconds: []string{"Seconds"}, terms: []string{"Terms"}, faults: []string{"faults"},
		bySeed:  regexp.MustCompile(`wild seed \d+, failed after (\d+) tests`),
		byRapid: regexp.MustCompile(`\[rapid\] (?:failed|panic) after (\d+) tests`),
	},
	{
		name: "losses", pkg: "propertytests/model/electionsim",
		rules: []string{"internal/protocol", "propertytests/model/electionsim"},
		args: func(first uint64, schedules int) []string {
			return []string{
				"-test.run=^TestBucketLosesWrites$", fmt.Sprint("-sim.seed=", first),
				fmt.Sprint("-sim.schedules=", 3*schedules),
			}
		},
		seeds:   func(schedules int) int { return schedules },
		usual:   10_000,
		seconds: []string{"Seconds"}, terms: []string{"Terms"}, faults: []string{"faults"},
		bySeed: regexp.MustCompile(`losing seed \d+, failed after (\d+) tests`),
	},
	{
		name: "tasks", pkg: "propertytests/model/tasksim",
		rules: []string{"internal/protocol/tasks", "propertytests/model/tasksim"},
		args: func(first uint64, schedules int) []string {
			return []string{
				"-test.run=^TestRoughWorlds$", fmt.Sprint("-tasksim.seed=", first),
				fmt.Sprint("-tasksim.schedules=", schedules),
			}
		},
		seeds:   func(int) int { return 1 }, // the rest follows from it
		usual:   15_000,
		seconds: []string{"Seconds"},
		terms:   []string{"Terms"}, faults: []string{"Crashes", "Cuts", "Depositions"},
		bySeed: regexp.MustCompile(`failed after (\d+) schedules`),
	},
	{
		name: "deploys", pkg: "propertytests/live/deploys",
		rules: []string{
			"internal/protocol", "internal/protocol/tasks", "internal/natskv", "election", "assign",
			"propertytests/live/deploys",
		},
		args: func(first uint64, hours int) []string {
			return []string{
				"-test.run=^TestDeploysEveryHour$", fmt.Sprint("-deploys.seed=", first), fmt.Sprint("-deploys.hours=", hours),
			}
		},
		env:     func(uint64, int) []string { return []string{"NATSTEST_PROCESSORS=all"} },
		seeds:   func(int) int { return 1 },
		usual:   168, // a week
		counter: "Hours", seconds: []string{"Seconds"}, terms: []string{"Terms"}, faults: []string{"Faults"},
	},
	storms("storms", "^TestBubbleStorms$", 200, 1),
	storms("taskstorms", "^TestTasksStorms$", 16, 10), // the test takes a tenth of the hours
}

func kindOf(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("schedules: %q is not played here", name)
}
