package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var example = []figure{
	{stage: "vet", wall: 2 * time.Second, cpu: 3 * time.Second, result: "ok"},
	{stage: "test", pkg: module + "/a", wall: time.Second, result: "ok"},
	{stage: "test", pkg: module + "/b", wall: 5 * time.Second, result: "ok"},
	{stage: "test", wall: 6 * time.Second, cpu: 7 * time.Second, result: "ok"},
	{stage: "race", pkg: module + "/a", wall: 8 * time.Second, result: "FAIL"},
	{stage: "race", pkg: module + "/a", wall: 2 * time.Second, result: "ok"},
	{stage: "race", wall: 11 * time.Second, cpu: 12500 * time.Millisecond, result: "FAIL"},
}

// TestSummary: it has a line for each stage, and one for each package, the slowest first.
func TestSummary(t *testing.T) {
	var out bytes.Buffer
	summarize(&out, example, 20*time.Second)
	var got [][]string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Fields(line))
	}
	want := `
stage seconds CPU seconds result
vet 2.0 3.0 ok
test 6.0 7.0 ok
race 11.0 12.5 FAIL
all 20.0 22.5

package test race seconds
a 1.0 10.0 11.0
b 5.0 5.0`
	for i, line := range strings.Split(want, "\n") {
		if i >= len(got) || strings.Join(got[i], " ") != line {
			t.Fatalf("line %d is not %q in\n%s", i, line, &out)
		}
	}
}

// TestKept: the figures of every run are added to the file, which has one head.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "check.csv")
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, f := range example[:2] {
		if err := keep(path, "abc", began, []figure{f}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	want := "began,commit,stage,package,seconds,cpu_seconds,result\n" +
		"2026-01-02T03:04:05Z,abc,vet,,2.000,3.000,ok\n" +
		"2026-01-02T03:04:05Z,abc,test," + module + "/a,1.000,,ok\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
	if err := keep(filepath.Join(t.TempDir(), "none", "x.csv"), "abc", began, example); err == nil {
		t.Error("figures were kept in a directory that does not exist")
	}
	if err := keep("", "abc", began, example); err != nil {
		t.Error(err)
	}
}
