package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// level is how bad a finding is; its number is the exit code, as monitoring systems have it.
type level int

const (
	healthy level = iota
	warning
	critical
	unknown
)

var levelNames = [...]string{"ok", "warning", "critical", "unknown"}

func (l level) String() string { return levelNames[l] }

func (l level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// finding is what one check has found.
type finding struct {
	Check   string `json:"check"`
	Level   level  `json:"level"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // never empty when something is wrong
}

// findings are those of one examination, in the order of the checks.
type findings []finding

func (f *findings) ok(check, format string, args ...any) {
	*f = append(*f, finding{check, healthy, fmt.Sprintf(format, args...), ""})
}

func (f *findings) add(l level, check, fix, format string, args ...any) {
	*f = append(*f, finding{check, l, fmt.Sprintf(format, args...), fix})
}

// worst is the exit code: what is known to be wrong comes before what is not known.
func (f findings) worst() level {
	worst := healthy
	for _, x := range f {
		if x.Level == unknown && worst == healthy || x.Level != unknown && (x.Level > worst || worst == unknown && x.Level != healthy) {
			worst = x.Level
		}
	}
	return worst
}

const doctorName = "doctor"

func doctor(a *app) *cobra.Command {
	var watchFor time.Duration
	cmd := &cobra.Command{
		Use: doctorName, Short: "Find out what is wrong with a bucket, its servers, members and tasks, and say what to do",
		Long: `Find out what is wrong with a bucket, its servers and members, and the tasks that these work on, and say what to do.

It needs read-only permissions, and says what it could not find out with those that it has.

Exit codes, for monitoring: 0 ok, 1 warning, 2 critical, 3 unknown (no connection, no permission to look, bad usage).`,
		Example: "  rolectl doctor\n  rolectl doctor --for 30s -o json\n  rolectl doctor -o name   # only the names of the checks that found something",
		Args:    takes, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer a.whileRead(cmd)()
			found, err := a.examine(cmd.Context(), watchFor)
			if cmd.Context().Err() != nil { // not everything was looked at, so nothing is well
				return errInterrupted
			}
			if err != nil {
				var f *failure
				if errors.As(err, &f) && f.code == exitUsage {
					return err
				}
				found.add(unknown, "connection", "check --server and the credentials (rolectl --help says where they come from)", "%v", err)
			}
			if err := a.report(found); err != nil {
				return err
			}
			return coded(int(found.worst()))
		},
	}
	atLeast(cmd, &watchFor, "for", 0, 2*time.Second, "how long to watch for what only time shows")
	return cmd
}

// examination is what the checks look at.
type examination struct {
	findings
	a    *app
	s    *sight
	seen *changes
}

// examine runs every check that can be run. An error says that nothing could be found out.
func (a *app) examine(ctx context.Context, watchFor time.Duration) (findings, error) {
	x := examination{a: a, seen: &changes{beats: map[protocol.Peer]pulse{}}}
	nc, err := a.connect()
	if err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, a.target.Timeout)
	defer cancel()
	x.server(opening)
	if err := x.bucket(opening); err != nil {
		return x.findings, err
	}
	if x.worst() == critical { // a bucket that is not there, or not fit, cannot be observed
		if _, err := natskv.Open(opening, nc, a.bucket); err != nil {
			return x.findings, nil
		}
	}
	if x.s, err = a.look(opening, true, x.seen.take); err != nil {
		if errors.Is(err, election.ErrPermission) {
			x.add(unknown, "permissions", "give this user the permissions of an observer (docs/reference/permissions.md)", "%v", err)
			return x.findings, nil
		}
		return x.findings, err
	}
	defer x.s.Close()
	x.seen.begin()
	x.time(ctx, watchFor)
	x.roundTrip()
	x.permissions(ctx)
	x.records()
	x.members()
	x.roles()
	x.churn(watchFor)
	x.tasks(ctx)
	return x.findings, nil
}

var levelTones = [...]show.Tone{show.Good, show.Warning, show.Bad, show.Warning}

func (a *app) report(found findings) error {
	p := a.printer()
	if found == nil {
		found = findings{}
	}
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Bucket   string   `json:"bucket"`
			Status   level    `json:"status"`
			Findings findings `json:"findings"`
		}{show.Of("doctor"), a.bucket, found.worst(), found})
	case "name":
		t, named := show.Table{}, map[string]bool{}
		for _, f := range found {
			if f.Level != healthy && !named[f.Check] {
				named[f.Check] = true
				t.Rows = append(t.Rows, show.Row{Name: f.Check})
			}
		}
		return p.Print(t)
	}
	for _, f := range found {
		text := p.Paint(levelTones[f.Level], fmt.Sprintf("%-8s", f.Level)) + fmt.Sprintf("  %-11s  %s\n", f.Check, show.Clean(f.Message))
		if f.Fix != "" {
			text += fmt.Sprintf("%8s  %11s  fix: %s\n", "", "", show.Clean(f.Fix))
		}
		if _, err := p.W.Write([]byte(text)); err != nil {
			return err
		}
	}
	return nil
}
