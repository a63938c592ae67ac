package permissions_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/dashboard"
	"github.com/rolemanager/rolemanager/election"
)

// looks opens every screen of a page that does not steer. The page says where it may not look.
func looks(t *testing.T, nc *nats.Conn, task string) {
	t.Helper()
	o, err := election.Observe(t.Context(), nc, bucket, election.WithWorkers())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	page, err := dashboard.New(dashboard.Options{Observer: o, Tasks: []*assign.Client{c}})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	sees(t, o, "a, b and w for the page", "a", "b", "w")
	for path, want := range map[string]string{
		"/now.json": `"role": "scheduler"`, "/role.json?name=scheduler": `"leader": "a"`, "/members.json": `"instance": "w"`,
		"/tasks.json": `"scheduler": "a"`, "/tasks.json?state=succeeded": task, "/task.json?id=" + task: `"state": "succeeded"`,
		"/dead.json": `"namespace": "jobs"`, "/groups.json": `"name": "g"`, "/group.json?name=g": `"succeeded": 2`,
		"/recurrences.json": `"namespace": "jobs"`, "/doctor.json": `"findings"`, "/events.json": `"bucket": "roles"`,
	} {
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		body := answer.Body.String()
		if answer.Code != http.StatusOK || !strings.Contains(body, want) || strings.Contains(body, `"problem": `) ||
			strings.Contains(body, `"dead_unknown": true`) {
			t.Errorf("%s: %d, and no %q or a problem in\n%s", path, answer.Code, want, body)
		}
	}
}
