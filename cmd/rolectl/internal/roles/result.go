package roles

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// handover is the JSON document of one hand-over: the leader before and after.
type handover struct {
	show.Document
	Bucket    string  `json:"bucket"`
	Role      string  `json:"role"`
	From      string  `json:"from"`
	FromEpoch uint64  `json:"from_epoch"`
	To        string  `json:"to"`                      // "" if nobody took the role in time
	Back      string  `json:"taken_back_by,omitempty"` // who takes it over from that one after a cool-down
	Epoch     uint64  `json:"epoch,omitempty"`
	Gap       float64 `json:"gap_seconds,omitempty"` // without a leader, by the server's clock
	Forced    bool    `json:"forced,omitempty"`
}

// result waits until a new term has begun, of another or of the same instance, and prints what
// happened. If nobody is in line it waits only until the role is vacated, unless the user has set
// --wait.
func (t *steerer) result(ctx context.Context, forced bool) error {
	h := handover{
		Document: show.Of("handover"), Bucket: t.a.Bucket, Role: t.before.Role, From: t.before.Leader,
		FromEpoch: t.before.Epoch, Forced: forced,
	}
	var vacated time.Time
	for h.To == "" {
		select {
		case r := <-t.records:
			switch {
			case r.Revision <= t.before.Epoch || r.Form != record.FormRecord:
			case r.Role.Vacant && vacated.IsZero():
				vacated = r.Time
				if !t.patient && !findings.Followed(&t.before) && !t.contended() {
					if err := t.print(h, vacated); err != nil {
						return err
					}
					return cli.ExitWith(cli.ExitNoLeader,
						fmt.Errorf("nobody has taken %s, and nobody is in line for it (rolectl inspect %s)", h.Role, h.Role))
				}
			case !r.Role.Vacant:
				h.To, h.Epoch = r.Role.ID, r.Revision
				if !vacated.IsZero() {
					h.Gap = show.Seconds(max(r.Time.Sub(vacated), 0))
				}
			}
		case <-t.s.Done():
			return t.s.Err()
		case <-ctx.Done():
			if err := t.print(h, vacated); err != nil {
				return err
			}
			return cli.ExitWith(cli.ExitNoLeader, fmt.Errorf("nobody has taken %s yet: rolectl inspect %s shows its candidates",
				h.Role, h.Role))
		}
	}
	back, takes := takesBack(&t.before, h.To)
	h.Back = back.Instance
	if err := t.print(h, vacated); err != nil {
		return err
	}
	if takes && t.a.Format != "json" {
		t.a.Say("%s", takenBack(&t.before, back))
	}
	if t.target != "" && h.To != t.target {
		return fmt.Errorf("%s did not take %s in time, so %s leads it: check %s (rolectl inspect %s)", t.target, h.Role, h.To,
			t.target, h.Role)
	}
	return nil
}

// takesBack is who takes the role over from its next leader: a candidate of the same tier with a
// higher priority and AllowPriorityTakeover, such as the leader that is told to give the role up.
func takesBack(before *election.RoleInfo, next string) (c election.Candidate, ok bool) {
	of := func(instance string) (c election.Candidate, ok bool) {
		i := slices.IndexFunc(before.Candidates, func(c election.Candidate) bool { return c.Instance == instance })
		if i < 0 {
			return c, false
		}
		return before.Candidates[i], true
	}
	leads, ok := of(next)
	if !ok {
		return c, false
	}
	for _, c := range before.Candidates {
		if c.Takeover && c.Tier == leads.Tier && c.Priority > leads.Priority {
			return c, true
		}
	}
	return c, false
}

// takenBack says who takes the role back, and how that is avoided.
func takenBack(before *election.RoleInfo, c election.Candidate) string {
	return fmt.Sprintf("%s takes %s back after its cool-down: it has priority %d and AllowPriorityTakeover; "+
		"rolectl pause %[2]s %[1]s keeps it out", c.Instance, before.Role, c.Priority)
}

// contended reports whether an instance other than the former leader would take the role.
func (t *steerer) contended() bool {
	info, _ := t.s.Role(t.before.Role)
	return slices.ContainsFunc(info.Candidates, func(c election.Candidate) bool { return c.Instance != t.before.Leader })
}

func (t *steerer) print(h handover, vacated time.Time) error {
	p := t.a.Printer()
	switch p.Format {
	case "json":
		return p.JSON(h)
	case "name":
		return p.Print(show.Table{Rows: []show.Row{{Name: h.To}}})
	}
	var err error
	switch {
	case h.To == "" && vacated.IsZero():
		_, err = fmt.Fprintf(p.W, "%s still holds %s at epoch %d\n", h.From, h.Role, h.FromEpoch)
	case h.To == "":
		_, err = fmt.Fprintf(p.W, "%s gave up %s at epoch %d\n", h.From, h.Role, h.FromEpoch)
	case vacated.IsZero():
		_, err = fmt.Fprintf(p.W, "%s leads %s at epoch %d, after %s\n", h.To, h.Role, h.Epoch, h.From)
	default:
		_, err = fmt.Fprintf(p.W, "%s leads %s at epoch %d, after %s and %s without a leader\n",
			h.To, h.Role, h.Epoch, h.From, wording.Age(time.Duration(h.Gap*float64(time.Second))))
	}
	return err
}
