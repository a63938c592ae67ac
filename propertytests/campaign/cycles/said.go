package cycles

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// figure is how often something has happened.
type figure struct {
	n    int
	what string
}

// figures are what cycles have come to.
type figures []figure

func (all figures) String() string {
	texts := make([]string, 0, len(all))
	for _, c := range all {
		texts = append(texts, fmt.Sprint(c.n, " ", c.what))
	}
	return strings.Join(texts, "; ")
}

// with are both, what has one name added up.
func (all figures) with(more figures) figures {
	sum := slices.Clone(all)
	for _, c := range more {
		if i := slices.IndexFunc(sum, func(s figure) bool { return s.what == c.what }); i >= 0 {
			sum[i].n += c.n
		} else {
			sum = append(sum, c)
		}
	}
	return sum
}

// countsIn reads what String has written.
func countsIn(text string) (all figures, err error) {
	for item := range strings.SplitSeq(text, "; ") {
		number, what, is := strings.Cut(item, " ")
		n, err := strconv.Atoi(number)
		if err != nil || !is {
			return nil, fmt.Errorf("cycles: %q does not count anything", item)
		}
		all = append(all, figure{n, what})
	}
	return all, nil
}

// How a test says what it has played: TestProcessKill and the others end with it.
var (
	playedText  = regexp.MustCompile(`(?m)^\s+\S+_test\.go:\d+: cycles played: (\d+), each of them .*$`)
	countedText = regexp.MustCompile(`(?m)^\s+\S+_test\.go:\d+: counted: (.+)$`)
)

// read makes a line from what a test has said.
func (t test) read(said string) (l cyclePart, err error) {
	played, counted := playedText.FindAllStringSubmatch(said, -1), countedText.FindAllStringSubmatch(said, -1)
	switch {
	case !strings.Contains(said, "--- PASS: "+t.name+" "):
		return l, errors.New("it has not passed")
	case len(played) != 1 || len(counted) != 1:
		return l, errors.New("it does not say how many cycles it has played, and what they came to")
	}
	l.test = t.name
	if l.cycles, err = strconv.Atoi(played[0][1]); err != nil {
		return l, err
	}
	all, err := countsIn(counted[0][1])
	l.counted = all.String()
	return l, err
}

// messageText matches a message of a failed test, and violationText one that tells of a violation.
var (
	messageText   = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.+)$`)
	violationText = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: ((?:[ET]\d+: |hot loop).*)$`)
)

// failed makes the line of a part that has failed: no cycles, and one part that failed with a
// violation, with a timeout, with the last message of the test, or with what its process ended
// with.
func (t test) failed(said string, err error) cyclePart {
	why := err.Error()
	said = countedText.ReplaceAllString(playedText.ReplaceAllString(said, ""), "") // it may say that after it has failed
	if all := messageText.FindAllStringSubmatch(said, -1); len(all) > 0 {
		why = all[len(all)-1][1]
	}
	if first := violationText.FindStringSubmatch(said); first != nil {
		why = "violation: " + first[1]
	} else if strings.Contains(said, "panic: test timed out after ") {
		why = "timeout"
	}
	why = strings.ReplaceAll(why, "; ", ", ") // between two counts
	return cyclePart{test: t.name, counted: figures{{1, "parts failed: " + why}}.String()}
}
