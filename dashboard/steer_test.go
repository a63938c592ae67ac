package dashboard

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// post sends a form, as that user, and returns the answer without following it.
func (s *site) post(user string, header http.Header, form url.Values) (status int, body string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.http.URL+"/act",
		strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User", user)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// TestSteer: a person with the right steers after a confirmation, and is named. Others are refused,
// and so are requests of other origins.
func TestSteer(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	var jobs *assign.Client
	s := open(t, natstest.Server(t), func(nc *nats.Conn, o *Options) {
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		jobs, o.Tasks = c, []*assign.Client{c}
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Steer = func(r *http.Request) (string, bool) { return r.Header.Get("User"), r.Header.Get("User") == "alice" }
	})
	s.member("a", "billing")
	s.led("billing", "a")
	s.member("b", "billing")
	var seen roleData
	natstest.Eventually(t, "b is in line", patience, func() (bool, string) {
		seen = document[roleData](s, "/role.json?name=billing")
		return len(seen.Line) == 2, s.get("/role.json?name=billing", http.StatusOK)
	})
	epoch := strings.Split(strings.Split(s.get("/role?name=billing", http.StatusOK), "do=step-down&amp;epoch=")[1], "&")[0]
	form := url.Values{"do": {"step-down"}, "role": {"billing"}, "epoch": {epoch}}
	status, body := s.post("bob", nil, form)
	if status != http.StatusForbidden || !strings.Contains(body, "you may look") {
		t.Errorf("without the right: %d\n%s", status, body)
	}
	for _, header := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://elsewhere.example"}},
	} {
		if status, _ := s.post("alice", header, form); status != http.StatusForbidden {
			t.Errorf("%v: %d", header, status)
		}
	}
	if d := document[roleData](s, "/role.json?name=billing"); d.Leader != "a" || d.Epoch != seen.Epoch {
		t.Errorf("a refused request did something: %+v", d)
	}
	old := url.Values{"do": {"step-down"}, "role": {"billing"}, "epoch": {"7"}}
	if status, body := s.post("alice", nil, old); status != http.StatusConflict || !strings.Contains(body, "Not done: ") {
		t.Errorf("for an earlier term: %d\n%s", status, body)
	}
	if status, _ := s.post("alice", nil, url.Values{"do": {"dance"}}); status != http.StatusNotFound {
		t.Errorf("an unknown act: %d", status)
	}
	if status, body := s.post("alice", nil, form); status != http.StatusSeeOther {
		t.Errorf("%d\n%s", status, body)
	}
	s.led("billing", "b")
	if body := s.get("/events?change=steered", http.StatusOK); !strings.Contains(body, "step-down by alice") {
		t.Error(body)
	}
	s.get("/act?do=step-down", http.StatusForbidden)

	work(t, s.nc)
	dead, err := assign.Submit(t.Context(), jobs, assign.NewKind[string, string]("fail"), "x", assign.WithID("dead-1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dead.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
		t.Fatal(err)
	}
	before, err := assign.Get(t.Context(), jobs, "dead-1")
	if err != nil {
		t.Fatal(err)
	}
	nightly := assign.Recur(t.Context(), jobs, assign.NewKind[string, string]("fail"), "nightly", "0 3 * * *", "x")
	if nightly != nil {
		t.Fatal(nightly)
	}
	if status, body := s.post("alice", nil, url.Values{
		"do": {"run-recurrence"}, "n": {"jobs"}, "name": {"none"},
	}); status != http.StatusConflict || !strings.Contains(body, "Not done: ") {
		t.Errorf("a recurrence that is not there: %d\n%s", status, body)
	}
	for _, form := range []url.Values{
		{"do": {"pause-recurrence"}, "n": {"jobs"}, "name": {"nightly"}},
		{"do": {"run-recurrence"}, "n": {"jobs"}, "name": {"nightly"}},
		{"do": {"requeue"}, "n": {"jobs"}, "id": {"dead-1"}},
		{"do": {"pause-kind"}, "n": {"jobs"}, "kind": {"fail"}},
		{"do": {"drain"}, "n": {"jobs"}, "instance": {"worker-1"}},
		{"do": {"undrain"}, "n": {"jobs"}, "instance": {"worker-1"}},
		{"do": {"pause"}, "role": {"billing"}, "instance": {"b"}},
		{"do": {"resume"}, "role": {"billing"}, "instance": {"b"}},
	} {
		if status, body := s.post("alice", nil, form); status != http.StatusSeeOther {
			t.Errorf("%v: %d\n%s", form, status, body)
		}
	}
	r, err := assign.GetRecurrence(t.Context(), jobs, "nightly")
	if err != nil || !r.Paused || r.PauseReason != "on the page by alice" {
		t.Errorf("%+v, %v", r, err)
	}
	if status, body := s.post("alice", nil, url.Values{
		"do": {"resume-recurrence"}, "n": {"jobs"}, "name": {"nightly"},
	}); status != http.StatusSeeOther {
		t.Errorf("%d\n%s", status, body)
	}
	if r, err = assign.GetRecurrence(t.Context(), jobs, "nightly"); err != nil || r.Paused {
		t.Errorf("%+v, %v", r, err)
	}
	natstest.Eventually(t, "the recurrence has run", patience, func() (bool, string) {
		o := assign.ListOptions{Prefix: "cron/nightly/run-", States: []assign.State{assign.StateDead}}
		page, err := assign.List(t.Context(), jobs, o) // it runs before its kind is paused, or waits
		if err == nil && len(page.Tasks) == 0 {
			o.States = []assign.State{assign.StatePending}
			page, err = assign.List(t.Context(), jobs, o)
		}
		return err == nil && len(page.Tasks) == 1, fmt.Sprint(page.Tasks, err)
	})
	natstest.Eventually(t, "the dead task has run again", patience, func() (bool, string) {
		now, err := assign.Get(t.Context(), jobs, "dead-1")
		return err == nil && (now.State != assign.StateDead || now.Ended.After(before.Ended)), string(now.State)
	})
	if said := log.String(); !strings.Contains(said, "act=step-down by=alice role=billing") ||
		strings.Contains(said, "by=bob") {
		t.Error(said)
	}
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (b unread) Read([]byte) (int, error) {
	b.t.Error("the body was read")
	return 0, http.ErrBodyReadAfterClose
}

// TestStrangersAreNotListenedTo: the body of a request is read after Steer has allowed it.
func TestStrangersAreNotListenedTo(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), func(_ *nats.Conn, o *Options) {
		o.Steer = func(*http.Request) (string, bool) { return "", false }
	})
	answer := httptest.NewRecorder()
	s.h.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/act", unread{t}))
	if answer.Code != http.StatusForbidden {
		t.Error(answer.Code)
	}
}
