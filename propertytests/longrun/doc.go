// Command longrun plays simulated schedules, range after range of seeds, and adds a line to propertytests/longrun.csv for each
// range. It goes on where the file ends, so that a long run can be stopped at any time, and nothing is played twice.
//
//	go run ./propertytests/longrun -of elections -for 1h
//	go run ./propertytests/longrun -sum
//
// A violation is told as the test tells it, is counted in the file, and ends the run.
//
// Files: main.go, kinds.go (what is played), table.go (a line of the file).
package main
