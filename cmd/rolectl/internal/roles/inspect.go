package roles

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Inspect is the command "rolectl inspect".
func Inspect(a *cli.App) *cobra.Command {
	var showToken bool
	var watchFor time.Duration
	cmd := &cobra.Command{
		Use: "inspect ROLE", Short: "Show everything about one role",
		Long: `Show everything about one role: its record, its candidates in the order in which they would take it, and the terms that were
seen since the command began. A bucket keeps no history: --for sets how long to watch.

The token is a secret that resources trust: only --show-token shows it. Exit code 3 when nobody leads.`,
		Example: "  rolectl inspect scheduler\n  rolectl inspect scheduler --for 1m -o json",
		Args:    cli.CheckArgs, ValidArgsFunction: inventory.CompleteRoles(a, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			defer a.EndWhenUnread(cmd)()
			terms := termLog{key: record.RoleKey(args[0])}
			s, err := inventory.Look(cmd, a, false, terms.observe)
			if err != nil {
				return err
			}
			defer s.Close()
			select {
			case <-time.After(watchFor):
			case <-cmd.Context().Done():
			}
			info, ok := s.Role(args[0])
			if !ok {
				return s.UnknownRole(args[0])
			}
			state := s.DescribeRole(info)
			d := inspection{
				Document: show.Of("role"), Bucket: a.Bucket, RoleState: state,
				Revision: info.Revision, PublicKey: info.PublicKey, Terms: terms.all(state),
			}
			if r, ok := s.Record(terms.key); ok {
				d.Problem = r.Problem
				d.Token = redacted
				if showToken {
					d.Token = r.Role.Token
				}
				if r.Role.Token == "" {
					d.Token = ""
				}
			}
			if err := d.print(a.Printer()); err != nil {
				return err
			}
			if !d.Led() {
				return cli.ExitCode(cli.ExitNoLeader)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&showToken, "show-token", false, "show the id of the fencing token, which is a secret")
	cli.DurationFlag(cmd, &watchFor, "for", 0, 0, "watch for this long before answering, to see terms begin and end")
	return cmd
}

// redacted stands for a token, and inSeconds is the form of times.
const (
	redacted  = "redacted"
	inSeconds = "2006-01-02T15:04:05.000Z07:00"
)

// inspection is the JSON document of one role.
type inspection struct {
	show.Document
	Bucket string `json:"bucket"`
	inventory.RoleState
	Revision  uint64 `json:"revision"`
	Token     string `json:"token,omitempty"`
	PublicKey string `json:"public_key,omitempty"`
	Problem   string `json:"problem,omitempty"`
	Terms     []term `json:"terms"`
}

func (d inspection) print(p show.Printer) error {
	switch p.Format {
	case "json":
		return p.JSON(d)
	case "name":
		return p.Print(show.Table{Rows: []show.Row{{Name: d.Role}}})
	}
	w := tabwriter.NewWriter(p.W, 0, 0, 2, ' ', 0)
	line := func(name string, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, wording.Clean(fmt.Sprintf(format, args...)))
	}
	line("role", "%s", d.Role)
	line("state", "%s", d.RoleFacts.State())
	if d.Leader != "" {
		line("leader", "%s", d.Leader)
		if why := d.WhyVacant(); why != "" {
			line("problem", "%s", why)
		}
		line("epoch", "%d", d.Epoch)
		line("term", "for %s", wording.Age(d.Age))
		beat := "no heartbeat seen" // its lease is gone: the first candidate that notices ends the session
		if d.HeartbeatAge >= 0 {
			beat = "heartbeat " + wording.Age(d.HeartbeatAge) + " ago"
		}
		line("session", "%d, %s, TTL %s", d.Session, beat, wording.Age(d.TTL))
		line("priority", "%d", d.Priority)
		line("token", "%s", d.Token)
		if d.Token == redacted {
			line("", "(a secret that resources trust; --show-token shows it)")
		}
		line("public key", "%s", d.PublicKey)
	} else {
		nobody := "nobody: "
		if d.Newer {
			nobody = ""
		}
		line("leader", "%s%s, for %s", nobody, d.WhyVacant(), wording.Age(d.Age))
		line("revision", "%d", d.Revision)
	}
	if d.Paused != nil {
		line("paused", "%s", findings.SteeredSince(d.Paused, time.Now()))
	}
	if d.Problem != "" {
		line("problem", "%s", d.Problem)
	}
	for i, c := range d.Candidates {
		name := ""
		if i == 0 {
			name = "candidates"
		}
		notes := []string{fmt.Sprintf("priority %d", c.Priority), fmt.Sprintf("session %d", c.Session)}
		if c.Zone != "" {
			notes = append(notes, "zone "+c.Zone)
		}
		if c.Tier < 0 {
			notes = append(notes, "drained")
		}
		if c.Takeover {
			notes = append(notes, "takes over from a lower priority")
		}
		if c.Instance == d.Leader {
			notes = append(notes, "leads")
		}
		if c.Instance == d.Successor {
			notes = append(notes, "next")
		}
		line(name, "%d. %s (%s)", i+1, c.Instance, strings.Join(notes, ", "))
	}
	if len(d.Candidates) == 0 {
		line("candidates", "none")
	}
	for i, x := range d.Waiting {
		name := ""
		if i == 0 {
			name = "waiting"
		}
		line(name, "%s (to lead %s)", x.Instance, x.For)
	}
	for i, x := range d.Absent {
		name := ""
		if i == 0 {
			name = "not in line"
		}
		line(name, "%s (priority %d, %s)", x.Instance, x.Priority, findings.WhyAbsent(&d.Info, x.Instance))
	}
	for i, t := range d.Terms {
		name := ""
		if i == 0 {
			name = "terms seen"
		}
		until := "now"
		if !t.Ended.IsZero() {
			until = fmt.Sprintf("%s (%s)", t.Ended.Format(inSeconds), t.Reason)
		}
		line(name, "%d by %s, from %s until %s", t.Epoch, t.Leader, t.Began.Format(inSeconds), until)
	}
	return w.Flush()
}
