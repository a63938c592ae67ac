// Package mutants proves that tests can fail: it takes one rule out of the code, and wants a test
// to notice.
//
// A Suite has a list of mutants. Each Mutant has edits of the sources, which go build -overlay
// applies, and a test that has to fail. A death is recorded in a CSV file beside the list.
//
// Production code has no switches for it. Compiling and running every mutant takes long. Run
// therefore does it only on request (MUTANTS), and puts each death on record. Fit always runs.
//
//	MUTANTS=1 go test -timeout 2h -run Mutants ./propertytests/...        all of them
//	MUTANTS=changed go test -timeout 2h -run Mutants ./propertytests/...  those without a death on record for their
//	                                                                      texts and test
//	MUTANTS=old go test -timeout 2h -run Mutants ./propertytests/...      also those whose deaths are of earlier sources
//	go run ./propertytests/campaign mutants                                   how many of the deaths are of earlier
//	                                                                          sources
//	make mutants                                                          a few, of the suites that play each seed the
//	                                                                      same way
//
// The mutants of a suite run side by side, as many as the flag -parallel allows; the default is
// GOMAXPROCS. They end in any order. The record and the list of outcomes at the end are in the
// order of the list of mutants.
//
// # Texts, not files
//
// A mutant names texts. A suite names the folders that hold these texts, and a test names its
// function and the folders that hold it. Folders are searched with all folders below them; of a
// list of folders some may be missing. A text has to be there exactly once, and a test function in
// exactly one package; otherwise the error names the files or packages that hold it. Where a text
// is not unique, lengthen it by what is before or after it.
//
// A row of the record therefore stays valid when a file, a test or the list itself moves, or when a
// package is split below the same folders. Its column "of" is a mark of the texts and of the test's
// name and arguments. Its column "in" only says in which package the test was at that time; after a
// move the death counts as one of earlier sources.
//
// A renamed identifier changes the texts that contain it, and so the marks of their mutants:
// whether the mutation is still the same, only a run can show. Rename in the code and in the lists
// in one go, for instance with one sed over both. Fit then names each mutant whose mark has
// changed, and MUTANTS=changed runs these and no others.
//
// # Sources of a death
//
// Each row also has a mark of the sources: the rules, the world and the checks that the test was
// made of. When these change, the mutant might survive now, since a check may have become blind.
// The tests do not fail for it. Fit and the subcommand mutants of campaign report it.
//
// A few mutants (MUTANTS=some) run in CI with every commit, after the tests. They follow from
// MUTANTS_SEED, which is there the hash of the commit, so that each has its turn in time. A mutant
// that does not die within four minutes fails the run. Nothing is put on record.
//
// Promises:
//   - A mutant fails the run if it compiles and nothing notices it, or if it dies of the time limit
//     alone. A test that fails without a mutant fails the run, too.
//   - Fit fails for a mutant whose text is gone or not unique, whose test is gone, or whose death
//     is not on record for its texts and its test. The list cannot rot unnoticed.
package mutants
