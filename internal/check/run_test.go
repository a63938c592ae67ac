package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOutput: the lines of go test are passed on, however they are cut, and their seconds are read
// from them.
func TestOutput(t *testing.T) {
	const said = "ok  \texample.org/m/a\t1.250s\n" +
		"ok  \texample.org/m/b\t(cached)\n" +
		"ok  \texample.org/m/c\t0.010s [no tests to run]\n" +
		"?   \texample.org/m/d\t[no test files]\n" +
		"--- FAIL: TestX (0.00s)\nFAIL\nFAIL\texample.org/m/e\t12.5s\n" +
		"FAIL\texample.org/m/f [build failed]\nFAIL\nok  \texample.org/m/g\t2s, and no end of the line"
	want := []figure{
		{pkg: "example.org/m/a", wall: 1250 * time.Millisecond, result: "ok"},
		{pkg: "example.org/m/b", result: "cached"},
		{pkg: "example.org/m/c", wall: 10 * time.Millisecond, result: "ok"},
		{pkg: "example.org/m/e", wall: 12500 * time.Millisecond, result: "FAIL"},
	}
	for _, size := range []int{1, 7, len(said)} {
		var shown bytes.Buffer
		out := &output{to: &shown}
		for part := range slices.Chunk([]byte(said), size) {
			if _, err := out.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		out.end()
		if shown.String() != said || out.bytes != len(said) {
			t.Errorf("in parts of %d: %q was shown", size, shown.String())
		}
		if !slices.Equal(out.packages, want) {
			t.Errorf("in parts of %d: %v, want %v", size, out.packages, want)
		}
	}
}

// TestStep: a command that fails is a failure. A command that must print nothing fails when it
// prints.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		step step
		want string
	}{
		{step{line: "go version"}, ""},
		{step{line: "go version", silent: "it speaks"}, "it speaks"},
		{step{line: "go nothing"}, "exit status"},
		{step{line: "go list", dir: t.TempDir()}, "exit status"},
	} {
		_, cpu, err := c.step.run(t.Context(), io.Discard)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.step.line, err, c.want)
		}
		if cpu <= 0 {
			t.Errorf("%q took no CPU time", c.step.line)
		}
	}
}
