package roles

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestTermsOfADeadRole: the record of a role keeps the name of a leader whose session has ended.
// Its term is not shown as one that lasts, and has not ended before it began.
func TestTermsOfADeadRole(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, time.November, 26, 8, 0, 0, 0, time.UTC)
	claimed := inventory.Record{Key: "c.role.r", Time: began, Entry: record.Entry{
		Form: record.FormRecord, Revision: 7, Role: record.Role{ID: "a"},
	}}
	for _, c := range []struct {
		name        string
		ended, want time.Time
		reason      string
	}{
		{"led", time.Time{}, time.Time{}, ""},
		{"dead", began.Add(8 * time.Second), began.Add(8 * time.Second), "its session ended"},
		{"dead at once, by clocks that differ", began.Add(-time.Millisecond), began, "its session ended"},
	} {
		l := termLog{key: "c.role.r"}
		l.observe(claimed)
		got := l.all(inventory.RoleState{Ended: c.ended})
		if len(got) != 1 || !got[0].Ended.Equal(c.want) || got[0].Reason != c.reason {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
