package tasks

import (
	"cmp"
	"fmt"
	"slices"
)

// sweepKeys checks, record by record, that of the open tasks of a kind one at most has a unique key
// (the digest is of both). A record that is missing across a restart of the server does no harm:
// the sweep sees the outcome of a task that was known to have a key, or the record that takes its
// place.
func sweepKeys(records map[string][]Record) (violations []Violation) {
	type moment struct {
		id string
		r  *Record
	}
	var all []moment
	for id, history := range records {
		if !slices.ContainsFunc(history, func(r Record) bool { return r.Unique != "" }) {
			continue
		}
		for i := range history {
			all = append(all, moment{id, &history[i]})
		}
	}
	slices.SortFunc(all, func(a, b moment) int { return cmp.Compare(a.r.Revision, b.r.Revision) })
	holders, keys := map[string]string{}, map[string]string{} // the task that has a key, the key that a task has
	for _, m := range all {
		if m.r.Outcome != nil {
			delete(holders, keys[m.id])
			continue
		}
		if holder, taken := holders[m.r.Unique]; taken && holder != m.id {
			violations = append(violations,
				Violation{m.id, fmt.Errorf("unique: it is open with the key of %s, which is open too: %v", holder, m.r)})
		}
		holders[m.r.Unique], keys[m.id] = m.id, m.r.Unique
	}
	return violations
}
