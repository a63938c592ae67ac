package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// kind is one sort of schedules.
type kind struct {
	name, pkg string
	// args play so many schedules from a seed on.
	args func(first uint64, schedules int) []string
	// seeds is how many seeds that takes.
	seeds func(schedules int) int
	// Counters in what the test says, summed up.
	seconds, faults, terms []string
}

var kinds = []kind{
	{
		name: "elections", pkg: "./propertytests/sim",
		args: func(first uint64, schedules int) []string {
			return []string{
				"-test.run=^TestElection$", fmt.Sprint("-sim.seed=", first), fmt.Sprint("-sim.schedules=", schedules), fmt.Sprint("-rapid.seed=", first),
			}
		},
		seeds:   func(schedules int) int { return schedules - schedules/3 }, // the others are drawn by rapid
		seconds: []string{"Seconds"}, terms: []string{"Terms"}, faults: []string{"faults"},
	},
	{
		name: "tasks", pkg: "./propertytests/tasksim",
		args: func(first uint64, schedules int) []string {
			return []string{"-test.run=^TestRoughWorlds$", fmt.Sprint("-tasksim.seed=", first), fmt.Sprint("-tasksim.schedules=", schedules)}
		},
		seeds:   func(int) int { return 1 }, // the rest follows from it
		seconds: []string{"Seconds"},
		terms:   []string{"Terms"}, faults: []string{"Crashes", "Cuts", "Depositions"},
	},
}

func kindOf(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("longrun: %q is not played here", name)
}

// read finds the counters in what the test has said.
func (k kind) read(first uint64, schedules int, said string) (l line, err error) {
	l = line{what: k.name, first: first, last: first + uint64(k.seeds(schedules)) - 1, schedules: schedules}
	for _, c := range []struct {
		to    *int
		names []string
	}{{&l.seconds, k.seconds}, {&l.faults, k.faults}, {&l.terms, k.terms}} {
		for _, name := range c.names {
			n, found := counter(said, name)
			if !found {
				return l, fmt.Errorf("the test does not say how many %s there were:\n%.2000s", name, said)
			}
			*c.to += n
		}
	}
	return l, nil
}

var numbers = regexp.MustCompile(` (\d+)`)

// counter is the number after a name (Terms:17), or the sum of a list that begins with it (faults · cut 3 · crash 4).
func counter(said, name string) (n int, found bool) {
	if m := regexp.MustCompile(`\b` + name + `:(\d+)`).FindStringSubmatch(said); m != nil {
		n, err := strconv.Atoi(m[1])
		return n, err == nil
	}
	for text := range strings.Lines(said) {
		if list, is := strings.CutPrefix(strings.TrimSpace(text), name+" · "); is {
			for _, m := range numbers.FindAllStringSubmatch(list, -1) {
				one, err := strconv.Atoi(m[1])
				if err != nil {
					return 0, false
				}
				n += one
			}
			return n, true
		}
	}
	return 0, false
}
