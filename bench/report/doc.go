// Command report measures everything and writes docs/explanation/benchmarks.md, with its plots and
// raw data under docs/explanation/benchmarks, and the figures in the README.
//
//	go run ./bench/report            everything, on a quiet machine
//	go run ./bench/report -quick     the same in small, into a temporary directory: does it work?
//	go run ./bench/report -render    the document again, from the raw data that is there
//	go run ./bench/report -only tasks,scale
//
//	go test -bench ──► bench.csv ────────┐
//	bench/peers ─┬───► elections.csv ────┤
//	             ├───► synced.csv ───────┼─ tables, plots ──► docs/explanation/benchmarks.md
//	             └───► tasks.csv ────────┤                    from document.md, which is written by hand
//	bench/scale ─────► scale.csv ────────┘                └──► README.md, between two lines of it
//
// A number in the document is either computed from the raw data beside it or marked as an aim. If a
// part has not measured a figure yet, its place says so.
package main
