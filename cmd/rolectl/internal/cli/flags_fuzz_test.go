package cli

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// FuzzFlags: any command line, one argument on each line, is read without harm. A value that a flag
// has taken is within the bounds of the flag, and a value that it refuses is explained in one line.
func FuzzFlags(f *testing.F) {
	for _, line := range []string{
		"x --wait 5s", "x --wait 0s", "x --wait 1e9h", "x --n 7", "x --n -101", "x --replicas 3", "x --replicas 2",
		"x --word b", "x --word d",
		"x --yes=perhaps", "x --epoch -1", "x --epoch 99999999999999999999", "x --pair a=b", "x --pair a", "x -o json",
		"x -o xml", "x --timeout -1s",
		"", "a:b", "x y z", "x ..", "-o", "--", "-ojson", "x --output=json --", "-b",
	} {
		f.Add(strings.ReplaceAll(line, " ", "\n"))
	}
	f.Fuzz(func(t *testing.T, lines string) {
		a := OfProcess()
		var wait time.Duration
		var n, replicas int
		var word string
		cmd := &cobra.Command{Use: "do ROLE [INSTANCE...]"}
		cmd.SetFlagErrorFunc(ExplainFlagError)
		a.GlobalFlags(cmd)
		DurationFlag(cmd, &wait, "wait", ShortestWait, time.Second, "")
		IntFlag(cmd, &n, "n", -100, 100, "")
		ReplicasFlag(cmd, &replicas)
		ChoiceFlag(cmd, &word, "word", "a", "", "a", "b", "c")
		cmd.Flags().Bool("yes", false, "")
		cmd.Flags().Uint64("epoch", 0, "")
		cmd.Flags().StringToString("pair", nil, "")
		args := strings.Split(lines, "\n")
		var err error
		heap.Bounded(t, len(lines), func() {
			_ = WantsJSON(args)
			if err = cmd.ParseFlags(args); err != nil {
				err = cmd.FlagErrorFunc()(cmd, err)
			} else {
				err = CheckArgs(cmd, cmd.Flags().Args())
			}
		})
		if err != nil {
			said := wording.CleanLines(wording.OneLine(err.Error()))
			if said == "" || strings.ContainsFunc(said, unicode.IsControl) || len(said) > 4*len(lines)+2000 {
				t.Errorf("%q: %q", lines, said)
			}
		}
		if wait < ShortestWait || n < -100 || n > 100 || !slices.Contains([]int{1, 3, 5}, replicas) ||
			!slices.Contains([]string{"a", "b", "c"}, word) {
			t.Errorf("%q: %v, %d, %d, %q", lines, wait, n, replicas, word)
		}
		if a.Settings.Timeout < 0 || !slices.Contains(show.Formats, a.Format) {
			t.Errorf("%q: timeout %v, format %q", lines, a.Settings.Timeout, a.Format)
		}
	})
}
