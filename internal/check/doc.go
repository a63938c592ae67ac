// Command check runs everything that must hold before a change lands, stage by stage, and reports
// how long each stage took.
//
//	go run ./internal/check              all stages, as CI runs them
//	go run ./internal/check vet race     some of them
//
// The output of every command appears as it is written. A summary follows: the seconds of each
// stage and of each package, and the CPU seconds of each stage. The same figures are appended to
// check.csv, which Git ignores.
//
// The realtime stage mostly waits. The stages after it look at no clock, and run beside it, as
// commands that yield to it. Each line of the realtime stage begins with its name.
//
// Promises:
//   - The run ends at the first stage that fails, with status 1. The summary then has the
//     stages that were run.
//   - A run of more than 720 s is warned of. A run of more than 1,800 s fails.
//   - The test stage is what go test ./... does. The play stage adds drawn schedules and storms.
//   - Nested modules are vetted like this one, and those of the examples are tested.
//   - The race stage runs every package whose tests run concurrent code of this module, except in
//     a few folders that race.go names. The packages are found in the sources. Of their tests a
//     commit plays a half, which its hash draws, and those of files that changed lately.
package main
