package schedules

import "fmt"

// Storms draw from as many seeds at most as there are shapes in all rounds of a test, so ranges of
// so many never meet.
const seedsOfStorms = 64

// stuck is after how long a range ends as a violation: virtual time stands still, because somebody
// is busy for ever, or waits for something outside.
const stuck = "2h"

// storms is a test of live/storms, in ranges of virtual hours.
func storms(name, test string, usual, times int) kind {
	return kind{
		name: name, pkg: "propertytests/live/storms",
		rules: []string{"internal/protocol", "internal/protocol/tasks", "internal/natskv", "election", "assign"},
		args:  func(uint64, int) []string { return []string{"-test.run=" + test, "-test.timeout=" + stuck} },
		env: func(first uint64, hours int) []string {
			return []string{
				fmt.Sprint("ROLEMANAGER_STORM_SEED=", first), fmt.Sprint("ROLEMANAGER_STORM_HOURS=", times*hours),
				"ROLEMANAGER_STORM_LULL=1", "NATSTEST_PROCESSORS=all",
			}
		},
		seeds: func(int) int { return seedsOfStorms },
		usual: usual, counter: "Storms",
		seconds: []string{"Seconds"}, faults: []string{"Faults"}, terms: []string{"Terms"},
	}
}
