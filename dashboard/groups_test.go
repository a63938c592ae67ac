package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestGroups: the groups of a namespace are listed, the last one first, with how their members have
// ended. Each is a screen, and its tasks lead there.
func TestGroups(t *testing.T) {
	t.Parallel()
	var jobs *assign.Client
	s := open(t, natstest.Server(t), func(nc *nats.Conn, o *Options) {
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		jobs, o.Tasks = c, []*assign.Client{c}
	})
	work(t, s.nc)
	if body := s.get("/groups", http.StatusOK); !strings.Contains(body, "No group is kept") {
		t.Error(body)
	}
	fail := assign.NewKind[string, string]("fail")
	then := assign.NewKind[assign.GroupRef, string]("close")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i := range 3 {
		g, err := assign.SubmitGroup(ctx, jobs, fmt.Sprintf("nightly-%d", i), fail, []string{"a", "b"}, then)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Wait(ctx); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatal(err)
		}
	}
	d := document[groupsData](s, "/groups.json")
	if len(d.Groups) != 3 || d.Groups[0].Name != "nightly-2" || d.Groups[0].Unsuccessful != 2 || d.Groups[0].Left != 0 ||
		d.Groups[0].Completion.State != assign.StateDead || d.Groups[2].Name != "nightly-0" {
		t.Errorf("%+v", d)
	}
	if d := document[groupsData](s, "/groups.json?prefix=nightly-1"); len(d.Groups) != 1 || d.Next != "" {
		t.Errorf("%+v", d)
	}
	var names []string
	for o := (assign.GroupListOptions{Limit: 1}); ; {
		page, err := assign.ListGroups(ctx, jobs, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range page.Groups {
			names = append(names, g.Name)
		}
		if o.Cursor = page.Next; o.Cursor == "" {
			break
		}
	}
	if got := strings.Join(names, " "); got != "nightly-2 nightly-1 nightly-0" {
		t.Errorf("page by page: %s", got)
	}
	for _, key := range []string{"g.group/<img/src=x>", "g.group/nightly-9", "r.<img/src=x>"} { // of another program
		if _, err := s.nc.Request("$KV.TASKS_jobs."+key, []byte("garbage"), patience); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := assign.ListGroups(ctx, jobs, assign.GroupListOptions{}); err != nil || len(page.Groups) != 3 {
		t.Errorf("beside records that no scheduler writes: %+v, %v", page, err)
	}
	if page, err := assign.ListRecurrences(ctx, jobs, assign.RecurrenceListOptions{}); err != nil ||
		len(page.Recurrences) != 0 {
		t.Errorf("beside a record that no client writes: %+v, %v", page, err)
	}
	for path, want := range map[string]string{
		"/groups?n=jobs":                     `href="/group?n=jobs&amp;name=nightly-2"`,
		"/group?n=jobs&name=nightly-2":       `href="/task?id=group%2Fnightly-2%2F1&amp;n=jobs"`,
		"/group?name=nightly-1":              `href="/dead?n=jobs&amp;prefix=group%2Fnightly-1%2F"`,
		"/tasks":                             `href="/groups?n=jobs"`,
		"/task?n=jobs&id=group/nightly-2/0":  `href="/group?n=jobs&amp;name=nightly-2"`,
		"/task?n=jobs&id=group/nightly-2":    `href="/group?n=jobs&amp;name=nightly-2"`,
		"/group.json?n=jobs&name=nightly-2":  `"unsuccessful": 2`,
		"/groups.json?prefix=there-are-none": `"groups": []`,
	} {
		if body := s.get(path, http.StatusOK); !strings.Contains(body, want) {
			t.Errorf("%s: no %s in\n%s", path, want, body)
		}
	}
	s.get("/group?name=none", http.StatusNotFound)
	s.get("/group?name=a/b", http.StatusNotFound)
	s.get("/groups?cursor=x", http.StatusBadRequest)
	long, err := assign.SubmitGroup(ctx, jobs, "waits", assign.NewKind[string, string]("orphan"), []string{"a"}, then)
	if err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "an open group is the first", patience, func() (bool, string) {
		d := document[groupsData](s, "/groups.json")
		return d.Groups[0].Name == long.Name() && d.Groups[0].Left == 1 && d.Groups[0].Why == "1 member to end",
			fmt.Sprintf("%+v", d.Groups[0])
	})
	if body := s.get("/group?name=waits", http.StatusOK); !strings.Contains(body, "1 member to end") {
		t.Error(body)
	}
}
