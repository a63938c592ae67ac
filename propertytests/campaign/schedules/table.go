package schedules

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// seedRange is what one range has come to. Where a test tells no virtual time, seconds is 0.
type seedRange struct {
	what                                          string
	first, last                                   uint64 // seeds
	schedules, seconds, faults, terms, violations int
	rules                                         string // "" where it was not noted
}

// Cells are its values in the file.
func (l *seedRange) Cells() []any {
	return []any{&l.what, &l.first, &l.last, &l.schedules, &l.seconds, &l.faults, &l.terms, &l.violations, &l.rules}
}

func table(path string) runlog.Table[seedRange, *seedRange] {
	return runlog.Table[seedRange, *seedRange]{
		Path: path,
		Head: []string{
			"played", "first_seed", "last_seed", "schedules", "virtual_seconds", "faults", "terms", "violations",
			"rules",
		},
	}
}

func (l seedRange) String() string {
	return fmt.Sprintf("%s, seeds %d to %d: %d schedules, %v of virtual time, %d faults, %d terms, %d violations",
		l.what, l.first, l.last, l.schedules, time.Duration(l.seconds)*time.Second, l.faults, l.terms, l.violations)
}

// next is the first seed that was not played.
func next(all []seedRange, what string) uint64 {
	seed := uint64(1)
	for _, l := range all {
		if l.what == what {
			seed = max(seed, l.last+1)
		}
	}
	return seed
}
