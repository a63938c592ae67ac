// Package mutants proves that tests can fail: it takes one rule out of the code, and wants a test to notice.
//
//	Suite ── for each Mutant: its Edits over the sources (go build -overlay) ──► the test that has to fail
//	  │                                                                             │ what it said, within how much
//	  └── Fit, in every run: the texts are there, each death is on record ◄── record: a CSV file beside the list
//
// Production code has no switches for it. To compile and run every mutant takes long, so Run does it only with MUTANTS=1, and
// writes down of what each has died; Fit runs always.
//
//	MUTANTS=1 go test -timeout 2h -run Mutants ./propertytests/...      all anew
//	MUTANTS=old go test -timeout 2h -run Mutants ./propertytests/...    those whose deaths are of earlier sources
//	go run ./propertytests/mutants/ages                                 how many these are
//	make mutants                                                        a few, of the suites that play each seed the same way
//
// A few (MUTANTS=some) run in CI with every commit, after the tests: which follows from MUTANTS_SEED, there the hash of the commit,
// so that all have their turn in time. One that does not die within four minutes fails the run; nothing is put on record.
//
// Each row says of which sources it is: of the rules, the world and the checks, all that its test was made of. When these change,
// what is on record may not hold any more: a check that has become blind lets live what has died before. That does not fail the
// tests at every change, but it is said: by Fit, and by the command.
//
// Promises:
//   - Who compiles and is not noticed, or dies of the time limit alone, fails the run; and so does a test that fails without a mutant.
//   - A mutant whose text is gone from the sources, or that has no death on record, or another one than is on record, fails Fit:
//     the list cannot rot unnoticed.
//
// Files: mutant.go (a mutant, its sources), test.go (what has to notice, and runs), suite.go (all of a package), some.go (a few of
// them), record.go (the file), age.go (of which sources it is), tally.go (what the deaths took); ages has the command.
package mutants
