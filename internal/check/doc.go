// Command check runs everything that must hold before a change lands, stage by stage, and reports
// how long each stage took.
//
//	go run ./internal/check              all stages; CI sets the variable CI too
//	go run ./internal/check vet race     some of them
//
// The output of every command appears. A summary follows: the seconds of each stage and of each
// package, and the CPU seconds of each stage. The same figures are appended to check.csv, which Git
// ignores.
//
// Some stages mostly wait for real time. Others only compute, and look at no clock. These run
// beside the former, as commands that yield to them. The output of each stage appears as a whole,
// when that of the stages before has.
//
// Promises:
//   - The run ends at the first stage that fails, with status 1, and what that stage wrote is the
//     last that is shown. The summary then has the stages that were run.
//   - A run of more than 720 s is warned of. A run of more than 1,800 s fails.
//   - The test stage is go test ./... With CI set it plays long tests too: the quarter that the
//     hash of the commit draws, and those in files that changed lately. With THOROUGH=all it plays
//     all of them.
//   - A commit runs one of the stages mutants, play and fuzz, in turn, and with THOROUGH=all each
//     of them. The play stage has drawn schedules and storms: every other one of its plans.
//   - Nested modules are vetted like this one, and those of the examples are tested: those whose
//     turn it is by the hash of the commit, and those that the last commits may have broken. With
//     THOROUGH=all it tries all of them.
//   - The realtime stage plays every other test that plays cycles: the half that the hash of the
//     commit draws, or all when one of their files changed lately, and with THOROUGH=all.
//   - The race stage runs every package whose tests run concurrent code of this module, except in
//     a few folders that race.go names. The packages are found in the sources. Of their tests a
//     commit plays the quarter that its hash draws, and those of files that changed lately. Of
//     small packages it draws all tests or none, and tests that have the name of a drawn one.
package main
