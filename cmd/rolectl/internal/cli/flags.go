package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
)

// These flags check their values when they are read: a value that makes no sense is refused, and
// never corrected silently.

// DurationFlag defines a flag for a duration that has a minimum.
func DurationFlag(cmd *cobra.Command, d *time.Duration, name string, least, otherwise time.Duration, help string) {
	*d = otherwise
	cmd.Flags().Var(&durationValue{d, least}, name, help)
}

// ShortestWait is the minimum of flags for which 0 makes no sense.
const ShortestWait = time.Millisecond

type durationValue struct {
	d     *time.Duration
	least time.Duration
}

func (s *durationValue) Type() string { return "duration" }

func (s *durationValue) String() string {
	if s.d == nil || *s.d == 0 {
		return "" // the help shows no default
	}
	return s.d.String()
}

func (s *durationValue) Set(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return errors.New("use a duration such as 5s")
	case d < s.least:
		return fmt.Errorf("use %v or more", s.least)
	case d > connect.LongestWait:
		return fmt.Errorf("use at most %v", connect.LongestWait)
	}
	*s.d = d
	return nil
}

// ChoiceFlag defines a flag for one of several words, which the shell completes.
func ChoiceFlag(cmd *cobra.Command, value *string, name, otherwise, help string, words ...string) {
	*value = otherwise
	cmd.Flags().Var(&choiceValue{value, words}, name, help)
	CompleteFlag(cmd, name, words...)
}

type choiceValue struct {
	value *string
	words []string
}

func (c *choiceValue) Type() string { return "string" }

func (c *choiceValue) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c *choiceValue) Set(text string) error {
	if !slices.Contains(c.words, text) {
		last := len(c.words) - 1
		return fmt.Errorf("use %s or %s", strings.Join(c.words[:last], ", "), c.words[last])
	}
	*c.value = text
	return nil
}

// ReplicasFlag defines the flag for the number of replicas. Even numbers are refused: a stream with
// 4 replicas survives the loss of one server, as one with 3 does.
func ReplicasFlag(cmd *cobra.Command, n *int) {
	*n = 1
	cmd.Flags().Var(&replicasValue{n}, "replicas", "number of servers that keep a copy: 1, 3 or 5")
	CompleteFlag(cmd, "replicas", "1", "3", "5")
}

type replicasValue struct{ n *int }

func (o *replicasValue) Type() string { return "int" }

func (o *replicasValue) String() string {
	if o.n == nil {
		return ""
	}
	return strconv.Itoa(*o.n)
}

func (o *replicasValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || !slices.Contains([]int{1, 3, 5}, n) {
		return errors.New("use 1, 3 or 5")
	}
	*o.n = n
	return nil
}

// IntFlag defines a flag for a whole number between two bounds.
func IntFlag(cmd *cobra.Command, n *int, name string, least, most int, help string) {
	cmd.Flags().Var(&intValue{n, least, most}, name, help)
}

type intValue struct {
	n           *int
	least, most int
}

func (n *intValue) Type() string { return "int" }

func (n *intValue) String() string {
	if n.n == nil || *n.n == 0 {
		return "" // the help shows no default
	}
	return strconv.Itoa(*n.n)
}

func (n *intValue) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < n.least || v > n.most {
		return fmt.Errorf("use %d to %d", n.least, n.most)
	}
	*n.n = v
	return nil
}

// ExplainFlagError replaces errors of the flags library that describe its parsing by what the flag
// takes.
func ExplainFlagError(_ *cobra.Command, err error) error {
	text := err.Error()
	for raw, instead := range map[string]string{
		"strconv.ParseBool:": "use true or false",
		"strconv.ParseUint:": "use a whole number, 0 or more",
		"strconv.ParseInt:":  "use a whole number",
		"time: ":             "use a duration such as 5s",
		"must be formatted":  "use name=value",
	} {
		if !strings.Contains(text, raw) {
			continue
		}
		if strings.HasSuffix(text, strconv.ErrRange.Error()) {
			instead = "it is too large"
		}
		if what, _, ok := strings.Cut(text, " flag: "); ok {
			return fmt.Errorf("%s flag: %s", what, instead)
		}
	}
	return err
}

// CompleteFlag offers fixed words for a flag.
func CompleteFlag(cmd *cobra.Command, name string, words ...string) {
	CompleteFlagBy(cmd, name, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
}

// CompleteFlagBy offers for a flag what a function finds.
func CompleteFlagBy(cmd *cobra.Command, name string, by cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, by); err != nil {
		panic(err) // the flag is not there
	}
}

const MinTTL = 300 * time.Millisecond // as a session has it
