// Command report measures everything and writes docs/explanation/benchmarks.md, with its plots and
// raw data under docs/explanation/benchmarks, and the figures in the README.
//
//	go run ./bench/report            everything, on a quiet machine
//	go run ./bench/report -quick     the same in small, into a temporary directory: does it work?
//	go run ./bench/report -render    the document again, from the raw data that is there
//	go run ./bench/report -only tasks,backlog
//
// The raw data are files beside the document: bench.csv of go test -bench, elections.csv,
// synced.csv, tasks.csv and reruns.csv of bench/peers, scale.csv and backlog.csv of bench/scale.
// Tables and plots of them go into document.md, which is written by hand, and into the README.
//
// A number in the document is either computed from the raw data beside it or marked as an aim. If a
// part has not measured a figure yet, its place says so.
package main
