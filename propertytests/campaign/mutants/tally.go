package mutants

import (
	"fmt"
	"regexp"
	"strconv"
)

// Tally counts the deaths on a record by what they took.
type Tally struct {
	Rows int
	// Drawn died of drawn schedules, Soon of them within 200, and the last within Last. Searched died
	// of a search. Beside died of tests beside those, which are named; Once of a test that does one
	// thing.
	Drawn, Soon, Last, Searched, Beside, Once int
}

var withinText = regexp.MustCompile(`^(\d+) (tests?|schedules?|moves?)\b`)

// TallyOf looks at a record.
func TallyOf(path string) (all Tally, err error) {
	rows, err := record(path).Read()
	if err != nil {
		return all, err
	}
	for _, d := range rows {
		m := withinText.FindStringSubmatch(d.Within)
		switch {
		case d.Within == "":
			all.Once++
		case m == nil:
			all.Beside++
		case m[2] == "move" || m[2] == "moves":
			all.Searched++
		default:
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return all, fmt.Errorf("%s: mutant %q: %w", path, d.Mutant, err)
			}
			all.Drawn++
			if n <= 200 {
				all.Soon++
			}
			all.Last = max(all.Last, n)
		}
	}
	all.Rows = len(rows)
	return all, nil
}

// With is the tally of both.
func (a Tally) With(b Tally) Tally {
	return Tally{
		a.Rows + b.Rows, a.Drawn + b.Drawn, a.Soon + b.Soon, max(a.Last, b.Last), a.Searched + b.Searched,
		a.Beside + b.Beside,
		a.Once + b.Once,
	}
}

func (a Tally) String() string {
	return fmt.Sprintf(
		"%d deaths: %d of drawn schedules (%d within 200, the last within %d), %d of a search, %d of a test beside these, "+
			"%d of a test that does one thing",
		a.Rows, a.Drawn, a.Soon, a.Last, a.Searched, a.Beside, a.Once)
}
