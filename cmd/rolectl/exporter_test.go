package main

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// scraped are the values of all series, by name and labels.
type scraped map[string]float64

// exports starts an exporter, and returns what reads its metrics.
func (p *place) exports(args ...string) (*process, func() scraped) {
	p.t.Helper()
	e := p.start(append([]string{"exporter", "--listen", "127.0.0.1:0", "-o", "json"}, args...)...)
	e.says(&e.out, "\n")
	url := document[struct{ URL, Bucket string }](p.t, e.out.String()).URL
	return e, func() scraped {
		p.t.Helper()
		r, err := http.Get(url)
		if err != nil {
			p.t.Fatal(err)
		}
		defer func() { _ = r.Body.Close() }()
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			p.t.Fatal(r.Status, err)
		}
		all := scraped{}
		for name, f := range families {
			for _, m := range f.GetMetric() {
				labels := []string{}
				for _, l := range m.GetLabel() {
					if l.GetName() != "bucket" {
						labels = append(labels, l.GetValue())
					} else if l.GetValue() != "roles" {
						p.t.Errorf("%s of bucket %s", name, l.GetValue())
					}
				}
				slices.Sort(labels)
				all[name+" "+strings.Join(labels, " ")] = m.GetGauge().GetValue()
			}
		}
		return all
	}
}

// until waits until the metrics are as wanted.
func (p *place) until(what string, scrape func() scraped, is func(scraped) bool) (last scraped) {
	p.t.Helper()
	natstest.Eventually(p.t, what, patience, func() (bool, string) {
		last = scrape()
		return is(last), fmt.Sprint(last)
	})
	return last
}

// TestExporter: it shows who leads, the line, the heartbeats and what the doctor finds. Two of them
// agree. When the leader is killed, both say so.
func TestExporter(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, _ := p.pair("billing")
	victim := p.start("exec", "cron", "--instance", "victim", "--ttl", "4s", "--", "sh", "-c", "echo leads; sleep 1000")
	victim.says(&victim.out, "leads")
	_, one := p.exports("--doctor-every", "1s")
	_, two := p.exports("--doctor-every", "1s")
	seen := func(s scraped) bool {
		return s["roles_leader_info a billing"] == 1 && s["roles_leader_info cron victim"] == 1 &&
			s["roles_candidates billing"] == 2 && s["roles_candidates cron"] == 1 && s["roles_doctor_findings warning"] == 1 &&
			s["roles_member_ttl_seconds b candidate"] == 100 // it is idle, and that stays so
	}
	first, second := p.until("one exporter sees it", one, seen), p.until("so does the other", two, seen)
	if got, want := slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(second)); !slices.Equal(got, want) {
		t.Errorf("two exporters have different series:\n%s\n%s", got, want)
	}
	for name, v := range first {
		w, passes := second[name], strings.HasPrefix(name, "roles_member_heartbeat")
		if v != w && (!passes || math.Abs(v-w) > patience.Seconds()) {
			t.Errorf("%s is %v for one and %v for the other", name, v, w)
		}
	}
	for name, want := range map[string]float64{
		"roles_epoch billing": float64(a.Status().Epoch), "roles_vacant_seconds billing": 0, "roles_view_age_seconds ": 0,
		"roles_member_ttl_seconds a candidate": 20, "roles_member_ttl_seconds candidate victim": 4,
		"roles_doctor_findings critical": 0, "roles_doctor_findings unknown": 0,
	} {
		if got, ok := first[name]; !ok || got != want {
			t.Errorf("%s = %v (%t), want %v", name, got, ok, want)
		}
	}
	victim.signal(syscall.SIGKILL)
	for _, scrape := range []func() scraped{one, two} {
		p.until("a killed leader is seen", scrape, func(s scraped) bool {
			_, led := s["roles_leader_info cron victim"]
			return !led && s["roles_vacant_seconds cron"] > 0 && s["roles_doctor_findings critical"] > 0 &&
				s["roles_leader_info a billing"] == 1 && s["roles_vacant_seconds billing"] == 0
		})
	}
}

// TestExporterLeavesOutWhatIsOld: while the server is away the exporter says so, and shows nothing
// that it does not know. It follows the bucket again when the server is back.
func TestExporterLeavesOutWhatIsOld(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("billing")
	e, scrape := p.exports("--stale-after", "1s", "--doctor-every", "0")
	known := func(s scraped) bool { // b may lead already
		return s["roles_leader_info a billing"]+s["roles_leader_info b billing"] == 1 && s["roles_view_age_seconds "] == 0
	}
	p.until("it follows the bucket", scrape, known)
	p.server.Stop()
	e.says(&e.errs, "there is no connection to NATS. After 1s its series are left out.")
	s := p.until("nothing else is shown", scrape, func(s scraped) bool { return len(s) == 1 })
	if age, ok := s["roles_view_age_seconds "]; !ok || age < 1 {
		t.Errorf("%v", s)
	}
	if err := p.server.Restart(); err != nil {
		t.Fatal(err)
	}
	e.says(&e.errs, "is followed again")
	p.until("it follows the bucket again", scrape, known)
	e.signal(syscall.SIGTERM)
	if r := e.wait(); r.code != 0 {
		t.Errorf("told to stop: exit %d, %s", r.code, r.errors)
	}
}

// TestExporterPermissions: an observer's permissions suffice, and nothing is asked for beyond them
// but what the doctor asks for. A user that may ask about tasks sees how full their stream is.
func TestExporterPermissions(t *testing.T) {
	thorough.Only(t, "it waits for findings")
	t.Parallel()
	p := documented(t)
	p.as("owner").ok("bucket", "create", "roles")
	owner, err := assign.NewClient(p.connect(as("owner")...), assign.ClientConfig{
		Namespace: "jobs", StreamAutoCreate: true, MaxBytes: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if _, err := assign.Get(t.Context(), owner, "none"); err == nil {
		t.Fatal("a task that there is not")
	}
	scheduling(t, p)
	const used = "roles_stream_used_ratio TASKS_jobs bytes"
	for user, sees := range map[string]bool{"o": false, "owner": true} {
		e, scrape := p.as(user).exports("--doctor-every", "1s")
		s := p.until(user+" sees the leader", scrape, func(s scraped) bool {
			_, found := s["roles_doctor_findings critical"]
			return s["roles_leader_info a scheduler"] == 1 && found
		})
		if ratio, ok := s[used]; ok != sees || ok && (ratio <= 0 || ratio >= 1) {
			t.Errorf("%s: %s = %v (%t)", user, used, ratio, ok)
		}
		e.signal(syscall.SIGTERM)
		if r := e.wait(); r.code != 0 {
			t.Errorf("%s: exit %d, %s", user, r.code, r.errors)
		}
	}
}

// TestExporterHosts: on loopback no foreign site can point its name at the metrics.
func TestExporterHosts(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	e := p.start("exporter", "--listen", "127.0.0.1:0", "--doctor-every", "0", "--host", "prometheus.local")
	e.says(&e.out, "\n")
	url := strings.TrimSpace(e.out.String())
	refusesForeignHosts(t, url)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "prometheus.local"
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("its own host: %s", answer.Status)
	}
}
