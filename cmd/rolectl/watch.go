package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/event"
)

func watch(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "watch [ROLE...]", Short: "Follow who leads, as it changes, until interrupted",
		Long: `Follow who leads, as it changes, until interrupted.

On a terminal it is a table that is kept up to date. Elsewhere, or with -o json, it is one JSON document on each line: first
the state of every role and member, then every change. With -o name it is the name of a role on each line: first of every one,
then of each whose leader has changed.

Without ROLE it also follows roles that are still to come.`,
		Example: `  rolectl watch
  rolectl watch scheduler | jq -r 'select(.role) | .role.leader'
  rolectl watch -o name | while read role; do ./refresh "$role"; done`,
		Args: takes, ValidArgsFunction: a.completeRoles(-1),
		RunE: func(cmd *cobra.Command, names []string) error {
			defer a.whileRead(cmd)()
			ctx, cancel, nc, err := a.asking(cmd)
			if err != nil {
				return err
			}
			defer cancel()
			s, err := a.look(ctx, false, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			if _, err := s.roles(names...); err != nil {
				return err
			}
			w := watching{s: s, bucket: a.bucket, names: names, printer: a.printer(), nc: nc, named: map[string]leading{}}
			if a.format != "json" && a.format != "name" && show.IsTerminal(os.Stdout) {
				return w.table(cmd.Context())
			}
			return w.lines(cmd.Context())
		},
	}
}

type watching struct {
	s       *sight
	bucket  string
	names   []string // of roles; none means all, and members
	printer show.Printer
	nc      *nats.Conn
	named   map[string]leading // with -o name: whom each role's last line was for
}

// leading is who leads a role, and since when.
type leading struct {
	leader string
	epoch  uint64
}

func (w watching) wants(role string) bool { return len(w.names) == 0 || slices.Contains(w.names, role) }

func (w watching) roles() []roleDoc {
	docs, _ := w.s.roles() // without names there is no error
	return slices.DeleteFunc(docs, func(d roleDoc) bool { return !w.wants(d.Role) })
}

// change is one line of JSON.
type change struct {
	show.Document
	Time   time.Time  `json:"time"`
	Bucket string     `json:"bucket"`
	Change string     `json:"change"` // present, leader, vacant, joined, left, problem, connected, disconnected
	Role   *roleDoc   `json:"role,omitempty"`
	Member *memberDoc `json:"member,omitempty"`
	Key    string     `json:"key,omitempty"`
	Reason string     `json:"reason,omitempty"`
}

// lines writes the state, then every change.
func (w watching) lines(ctx context.Context) error {
	events := w.s.Events(ctx) // before the state: what changes meanwhile comes twice rather than not at all
	link := w.nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING)
	defer w.nc.RemoveStatusListener(link)
	for _, d := range w.roles() {
		if err := w.line(change{Change: "present", Role: &d}); err != nil {
			return err
		}
	}
	if len(w.names) == 0 {
		for _, m := range w.s.members() {
			if err := w.line(change{Change: "present", Member: &m}); err != nil {
				return err
			}
		}
	}
	for {
		select {
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

func (w watching) line(c change) error {
	if w.printer.Format == "name" {
		if c.Role == nil {
			return nil
		}
		now := leading{c.Role.Leader, c.Role.Epoch}
		if before, ok := w.named[c.Role.Role]; ok && before == now { // several events tell of one change
			return nil
		}
		w.named[c.Role.Role] = now
		return w.printer.Print(show.Table{Rows: []show.Row{{Name: c.Role.Role}}})
	}
	c.Document, c.Bucket = show.Of("change"), w.bucket
	if c.Time.IsZero() {
		c.Time = time.Now()
	}
	return w.printer.Line(c)
}

// ended says why there is nothing more to follow: the user has had enough, or something is wrong.
func (w watching) ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	<-w.s.Done()
	return w.s.Err()
}

// changes are the lines of an event, mostly one.
func (w watching) changes(e event.Event) []change {
	at := event.MetaOf(e).Time
	ofRole := func(what, role string) []change {
		info, ok := w.s.Role(role)
		if !ok || !w.wants(role) {
			return nil
		}
		d := w.s.role(info)
		return []change{{Time: at, Change: what, Role: &d, Reason: d.Reason}}
	}
	ofMember := func(what, name, reason string) []change {
		if len(w.names) > 0 {
			return nil
		}
		c := change{Time: at, Change: what, Member: &memberDoc{Instance: name, Leads: []string{}, Roles: []string{}, State: "gone"}, Reason: reason}
		for _, m := range w.s.members() {
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

// redraw is how often a table on a terminal is drawn anew when nothing changes: its ages do.
const redraw = time.Second

// table keeps a table up to date on the other screen of the terminal, and leaves the last one on the ordinary one.
func (w watching) table(ctx context.Context) error {
	events := w.s.Events(ctx)
	resized, stop := windowChanges()
	defer stop()
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	screen := show.OpenScreen(os.Stdout)
	last := func() error {
		screen.Close()
		return w.printer.Print(roleTable(w.bucket, w.roles()))
	}
	for {
		status := "connected"
		if !w.nc.IsConnected() {
			status = "no connection: this is how it was"
		}
		title := fmt.Sprintf("bucket %s, %s, %d members", w.bucket, status, len(w.s.Members()))
		if err := screen.Draw(title, func(p show.Printer) error {
			p.Format = w.printer.Format
			return p.Print(roleTable(w.bucket, w.roles()))
		}); err != nil {
			screen.Close()
			return err
		}
		select {
		case _, ok := <-events:
			if !ok {
				if err := last(); err != nil {
					return err
				}
				return w.ended(ctx)
			}
		case <-resized:
		case <-tick.C:
		case <-ctx.Done():
			return last()
		}
	}
}
