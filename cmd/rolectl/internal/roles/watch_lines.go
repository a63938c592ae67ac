package roles

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// change is one line of JSON.
type change struct {
	show.Document
	Time   time.Time              `json:"time"`
	Bucket string                 `json:"bucket"`
	Change string                 `json:"change"` // present, leader, silent, vacant, joined, left, problem, connected, disconnected
	Role   *inventory.RoleState   `json:"role,omitempty"`
	Member *inventory.MemberState `json:"member,omitempty"`
	Key    string                 `json:"key,omitempty"`
	Reason string                 `json:"reason,omitempty"`
}

// lines writes the state, then every change.
func (w watcher) lines(ctx context.Context) error {
	events := w.s.Events(ctx) // before the state: a change in between is reported twice rather than never
	link := w.nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING)
	defer w.nc.RemoveStatusListener(link)
	for _, d := range w.roles() {
		if err := w.line(change{Change: "present", Role: &d}); err != nil {
			return err
		}
	}
	if len(w.names) == 0 {
		for _, m := range w.s.DescribeMembers() {
			if err := w.line(change{Change: "present", Member: &m}); err != nil {
				return err
			}
		}
	}
	look := time.NewTicker(show.RedrawEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			for _, c := range w.silences() {
				if err := w.line(c); err != nil {
					return err
				}
			}
		case e, ok := <-events:
			if !ok {
				return w.ended(ctx)
			}
			for _, c := range w.changes(e) {
				if err := w.line(c); err != nil {
					return err
				}
			}
		case status, ok := <-link:
			if !ok {
				return w.ended(ctx)
			}
			what := "connected"
			if status != nats.CONNECTED {
				what = "disconnected"
			}
			if err := w.line(change{Change: what}); err != nil {
				return err
			}
		}
	}
}

func (w watcher) line(c change) error {
	if w.printer.Format == "name" {
		if c.Role == nil {
			return nil
		}
		now := leading{c.Role.Leader, c.Role.Epoch}
		if before, ok := w.named[c.Role.Role]; ok && before == now { // several events may report one change
			return nil
		}
		w.named[c.Role.Role] = now
		return w.printer.Print(show.Table{Rows: []show.Row{{Name: c.Role.Role}}})
	}
	if c.Role != nil {
		w.silent[c.Role.Role] = c.Role.State == election.RoleSilent
	}
	c.Document, c.Bucket = show.Of("change"), w.bucket
	if c.Time.IsZero() {
		c.Time = time.Now()
	}
	return w.printer.Line(c)
}

// silences returns a line for each leader that has fallen silent, or is heard again. No event tells
// of that: only time has passed.
func (w watcher) silences() (all []change) {
	if w.printer.Format == "name" {
		return nil
	}
	for _, d := range w.roles() {
		silent := d.State == election.RoleSilent
		switch was := w.silent[d.Role]; {
		case silent && !was:
			all = append(all, change{Change: "silent", Role: &d, Reason: d.WhyVacant()})
		case was && d.Led():
			all = append(all, change{Change: "leader", Role: &d})
		}
	}
	return all
}

// changes returns the lines for an event, usually one.
func (w watcher) changes(e event.Event) []change {
	at := event.MetaOf(e).Time
	ofRole := func(what, role string) []change {
		info, ok := w.s.Role(role)
		if !ok || !w.wants(role) {
			return nil
		}
		d := w.s.DescribeRole(info)
		return []change{{Time: at, Change: what, Role: &d, Reason: d.Reason}}
	}
	ofMember := func(what, name, reason string) []change {
		if len(w.names) > 0 {
			return nil
		}
		c := change{
			Time: at, Change: what,
			Member: &inventory.MemberState{Instance: name, Leads: []string{}, Roles: []string{}, State: "gone"}, Reason: reason,
		}
		for _, m := range w.s.DescribeMembers() {
			if m.Instance == name && what != "left" {
				c.Member = &m
			}
		}
		return []change{c}
	}
	switch e := e.(type) {
	case event.LeaderChanged:
		return ofRole("leader", e.Role)
	case event.RoleVacant:
		return ofRole("vacant", e.Role)
	case event.MemberJoined:
		return ofMember("joined", e.Member, "")
	case event.MemberLeft:
		return ofMember("left", e.Member, e.Reason)
	case event.RecordIgnored:
		return []change{{Time: at, Change: "problem", Key: e.Key, Reason: e.Reason}}
	case event.Lagged:
		var all []change
		for _, d := range w.roles() {
			all = append(all, change{Time: at, Change: "present", Role: &d})
		}
		return all
	}
	return nil
}
