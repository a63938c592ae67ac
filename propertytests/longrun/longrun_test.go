package main

import (
	"path/filepath"
	"testing"
)

func TestTheFileGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "longrun.csv")
	k, err := kindOf("elections")
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{
		"    sim_test.go:55: {Schedules:30 Steps:9 Terms:17 QuietTerms:2 Seconds:60}\n        faults · crash 3 · cut 4\n        ends · closed 2\n",
		"    sim_test.go:55: {Schedules:30 Steps:9 Terms:3 Seconds:1}\n        faults · cut 1\n",
	} {
		all, err := table(path).Read()
		if err != nil {
			t.Fatal(err)
		}
		l, err := k.read(next(all, k.name), 30, said)
		if err != nil {
			t.Fatal(err)
		}
		if err := table(path).Add(l); err != nil {
			t.Fatal(err)
		}
	}
	all, err := table(path).Read()
	if err != nil || len(all) != 2 || all[0].last != 20 || all[1].first != 21 || next(all, k.name) != 41 || next(all, "tasks") != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if want := (line{"elections", 1, 40, 60, 61, 8, 20, 0}); total(all, k.name) != want {
		t.Errorf("%v, want %v", total(all, k.name), want)
	}
	if _, err := k.read(1, 30, "PASS"); err == nil {
		t.Error("a test that says nothing has played something")
	}
}
