// Command longrun plays simulated schedules, range after range of seeds, and adds a line to propertytests/longrun.csv for each
// range. It goes on where the file ends, so that a long run can be stopped at any time, and nothing is played twice.
//
//	go run ./propertytests/longrun -of elections -for 1h
//	go run ./propertytests/longrun -sum
//
// A violation is told as the test tells it, is counted in the file, and ends the run. The line of its range says how many
// schedules were played, the one with the violation among them, and has the counters that the test tells then, or 0 where it tells
// none. The last seed is that of the violation, if it was drawn by its seed, and the next run goes on behind it. Of a test that
// ends without saying how far it came, as in a panic, no schedule is counted. Older lines with a violation and without terms
// give the whole range instead of what was played.
//
// The sum has all violations. Of a range that one has stopped it has the schedules only if there are counters of the same
// schedules; it says how many ranges it leaves out.
//
// Files: main.go, kinds.go (what is played), said.go (what the test says of it), table.go (a line of the file), sum.go (all of them).
package main
