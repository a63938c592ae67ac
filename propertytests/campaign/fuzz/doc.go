// Package fuzz runs every fuzz target of the module for a while each, and says how many executions
// each of them had.
//
//	go run ./propertytests/campaign fuzz -time 10s
//	go run ./propertytests/campaign fuzz -time 3s -commits 3 -changed 8s -most 15s -seed text
//	go run ./propertytests/campaign fuzz -execs 10000000
//	go run ./propertytests/campaign fuzz -sum
//
// It finds them in the source, so that a new one is not forgotten. Several run at a time, each on
// one processor; what is found on the way is kept in the build cache as `go test -fuzz` keeps it,
// and continues from there the next time. An input that fails is written into the package's
// testdata, from where every `go test` runs it.
//
// With -commits a target runs longer if the Go files of its package have changed lately: in the
// last commits, or since. A decoder and its target are in one package, which a test holds, so
// nothing else has to be looked at. All targets together run no longer than -most: if too many have
// changed, they share what is left of it. Without a repository none is known to have changed.
//
// With -seed, one in ten of the other packages is drawn, and the rest is not even built. The seed
// corpora of all targets are run by `go test` anyway. The fuzzer then sees the ways through this
// module alone, and without -seed those through encoding/json too: to build that takes longer.
//
// With -execs it continues until propertytests/campaign/fuzz.csv has so many executions of each
// target: a line for each part that was played, so that it can be stopped at any time and continues
// where the file ends. The target with the fewest executions is the next. A line has the mark of
// what the tests of the target's package are made of (propertytests/campaign/sources): -sum tells
// those of other sources apart, and with -present they do not count. Older lines have no mark.
//
// A test holds the decoders to the targets: a function that decodes something is in its table, with
// a target that comes to it or with the reason why none needs to.
//
// docs/verification/runs.md quotes the sum of the file, and a test holds it to that. A commit that
// adds lines also updates the quote.
package fuzz
