package exporter

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

var pictures = flag.String("pictures", "", "directory to write the picture of an outage to")

// outage is what was scraped of a role of which both candidates die, one after the other.
type outage struct {
	at           []time.Duration
	vacant, late []float64 // how long nobody has led, and how old the oldest heartbeat is
	first, second,
	again time.Duration // when the candidates died, and when another one was started
}

// bound is from when on the published rule RoleWithoutLeader holds, and for how long it must hold.
func bound(t *testing.T) (above float64, lasts time.Duration) {
	t.Helper()
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)alert: RoleWithoutLeader.*?roles_vacant_seconds\) > (\d+)\n.*?for: (\w+)\n`).FindSubmatch(rules)
	if m == nil {
		t.Fatal("the rule is not there")
	}
	if above, err = strconv.ParseFloat(string(m[1]), 64); err != nil {
		t.Fatal(err)
	}
	if lasts, err = time.ParseDuration(string(m[2])); err != nil {
		t.Fatal(err)
	}
	return above, lasts
}

// fired is when the alert fires first, 0 for never.
func (o *outage) fired(above float64, lasts time.Duration) time.Duration {
	since := time.Duration(-1)
	for i, at := range o.at {
		switch {
		case o.vacant[i] <= above:
			since = -1
		case since < 0:
			since = at
		}
		if since >= 0 && at-since >= lasts {
			return at
		}
	}
	return 0
}

// TestOutage: a fail-over does not fire the published alert. When the last candidate has died, it
// fires after the time that the rule says, and it ends when another process is started.
func TestOutage(t *testing.T) {
	const ttl = 8 * time.Second
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cut := []*natsrun.Link{s.Link(), s.Link()}
		for i, link := range cut {
			session, err := election.NewSession(election.SessionConfig{
				Bucket: "roles", BucketAutoCreate: true, InstanceID: fmt.Sprint("app-", i+1), TTL: ttl,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := session.Open(t.Context(), natstest.Connect(t, s, link.Options()...)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				link.Heal()
				time.Sleep(10 * time.Second)
				_ = session.Close(t.Context())
			})
			if i == 0 {
				leads(t, session, "billing")
				continue
			}
			candidate(t, session, "billing", nil)
		}
		o, err := election.Observe(t.Context(), natstest.Connect(t, s), "roles")
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		reg := prometheus.NewPedanticRegistry()
		if err := reg.Register(New(o, 10*time.Second)); err != nil {
			t.Fatal(err)
		}
		all := outage{first: 60 * time.Second, second: 120 * time.Second, again: 240 * time.Second}
		for at := time.Duration(0); at < 5*time.Minute; at += time.Second {
			switch at {
			case all.first:
				cut[0].Cut()
			case all.second:
				cut[1].Cut()
			case all.again:
				leads(t, member(t, s, "app-3", false), "billing")
			}
			got := shown(t, reg)
			late := 0.0
			for name, v := range got {
				if strings.HasPrefix(name, "roles_member_heartbeat_age_seconds") {
					late = max(late, v)
				}
			}
			all.at = append(all.at, at)
			all.vacant, all.late = append(all.vacant, got["roles_vacant_seconds billing"]), append(all.late, late)
			time.Sleep(time.Second)
		}
		above, lasts := bound(t)
		fired := all.fired(above, lasts)
		// The role counts as vacant from the last heartbeat on, which may be older than the death.
		due := all.second + time.Duration(above)*time.Second + lasts
		if fired < due-ttl || fired > due+2*ttl {
			t.Errorf("the alert fires after %v", fired)
		}
		if last := all.vacant[len(all.vacant)-1]; last != 0 {
			t.Errorf("at the end nobody has led for %v s", last)
		}
		all.picture(t, above, fired)
	})
}

// picture keeps what was scraped as outage.svg, if pictures are wanted.
func (o *outage) picture(t *testing.T, above float64, fired time.Duration) {
	t.Helper()
	const left, top, wide, high, most = 60.0, 40.0, 860.0, 240.0, 120.0
	var text strings.Builder
	put := func(format string, values ...any) { fmt.Fprintf(&text, format+"\n", values...) }
	x := func(at time.Duration) float64 { return left + wide*at.Seconds()/o.at[len(o.at)-1].Seconds() }
	y := func(seconds float64) float64 { return top + high*(1-min(seconds, most)/most) }
	put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 360" font-family="sans-serif" font-size="14">`)
	put(`<style>text{fill:#1c2733}.ground{fill:#fff}.grid{stroke:#d5dce3}.quiet{fill:#5d6b7a}.fires{fill:#d55e00;opacity:.18}` +
		`.bound{stroke:#d55e00;stroke-dasharray:6 4}path{fill:none;stroke-width:2.5}.vacant{stroke:#d55e00}.late{stroke:#0072b2}` +
		`@media(prefers-color-scheme:dark){text{fill:#e4eaf0}.ground{fill:#10161d}.grid{stroke:#2a3540}.quiet{fill:#9aa8b6}` +
		`.vacant{stroke:#e69f00}.late{stroke:#56b4e9}}</style>`)
	put(`<rect class="ground" width="960" height="360"/>`)
	for s := 0.0; s <= most; s += 30 {
		put(`<line class="grid" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/><text class="quiet" x="%.0f" y="%.1f" text-anchor="end">%.0f s</text>`,
			left, left+wide, y(s), y(s), left-8, y(s)+5, s)
	}
	put(`<rect class="fires" x="%.1f" y="%.0f" width="%.1f" height="%.0f"/><text x="%.1f" y="%.0f">RoleWithoutLeader fires</text>`,
		x(fired), top, x(o.again)-x(fired), high, x(fired)+8, top+18)
	put(`<line class="bound" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/>`, left, left+wide, y(above), y(above))
	curve := func(class string, values []float64) {
		var path strings.Builder
		for i, v := range values {
			fmt.Fprintf(&path, "%c%.1f %.1f", "LM"[max(0, 1-i)], x(o.at[i]), y(v))
		}
		put(`<path class="%s" d="%s"/>`, class, path.String())
	}
	curve("late", o.late)
	curve("vacant", o.vacant)
	note := func(at time.Duration, what string) {
		put(`<text class="quiet" x="%.1f" y="%.0f">▲ %s</text>`, x(at)-6, top+high+22, what)
	}
	note(o.first, "the leader dies")
	note(o.second, "the next one dies")
	note(o.again, "another one is started")
	put(`<path class="vacant" d="M60 330H90"/><text x="98" y="335">roles_vacant_seconds</text>`)
	put(`<path class="late" d="M300 330H330"/><text x="338" y="335">roles_member_heartbeat_age_seconds, the oldest</text>`)
	put(`<path class="bound" d="M720 330H750"/><text x="758" y="335">the bound of the alert</text>`)
	put(`</svg>`)
	if *pictures == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pictures, "outage.svg"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
