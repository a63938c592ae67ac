package kube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestOthers: what others have written on the slice, and what this package does not know, is there
// after the leader has written it, and after it has emptied it.
func TestOthers(t *testing.T) {
	const found = `{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": [], "ports": [],
		"metadata": {
			"name": "leader", "namespace": "prod", "uid": "0f3a", "generation": 7, "finalizers": ["example.org/audit"],
			"ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "leader", "uid": "77", "controller": true}],
			"labels": {"endpointslice.kubernetes.io/managed-by": "rolemanager", "team": "blue"},
			"annotations": {"example.org/note": "keep", "rolemanager/role": "scheduler", "rolemanager/bucket-id": "one",
				"rolemanager/epoch": "0"}
		},
		"future": {"field": [1, 2.50]}
	}`
	api := newAPIServer(t)
	path := api.client().slices("leader")
	api.stored[path] = json.RawMessage(found)
	e := pod(api, 0)
	e.bucket = func() (string, time.Duration) { return "one", time.Second }
	kept := func(when string) {
		t.Helper()
		api.mu.Lock()
		defer api.mu.Unlock()
		var was, is map[string]any
		if err := errors.Join(json.Unmarshal([]byte(found), &was), json.Unmarshal(api.stored[path], &is)); err != nil {
			t.Fatal(err)
		}
		before, after := was["metadata"].(map[string]any), is["metadata"].(map[string]any)
		for _, field := range []string{"uid", "generation", "finalizers", "ownerReferences"} {
			if !reflect.DeepEqual(before[field], after[field]) {
				t.Errorf("%s: %s is %v, was %v", when, field, after[field], before[field])
			}
		}
		if !reflect.DeepEqual(was["future"], is["future"]) {
			t.Errorf("%s: the unknown field is %v", when, is["future"])
		}
		if l := after["labels"].(map[string]any); l["team"] != "blue" || l[labelService] != "leader" {
			t.Errorf("%s: the labels are %v", when, l)
		}
		if a := after["annotations"].(map[string]any); a["example.org/note"] != "keep" || a[annotationEpoch] == "0" {
			t.Errorf("%s: the annotations are %v", when, a)
		}
	}
	ctx, term, end := electiontest.NewTerm(t, "scheduler")
	lead := e.Lead(func(ctx context.Context, _ *election.Term) error {
		natstest.Eventually(t, "the slice names the leader", 20*time.Second, func() (bool, string) {
			s, _ := api.slice("leader")
			return s.names() == "10.0.0.1", s.names()
		})
		kept("while it leads")
		end(election.ErrSteppedDown)
		<-ctx.Done()
		return nil
	})
	if err := lead(ctx, term); err != nil {
		t.Fatal(err)
	}
	if s, _ := api.slice("leader"); s.names() != "" {
		t.Errorf("the slice names %s after the term", s.names())
	}
	kept("after the term")
}

// TestCleared: an API server that fails for a moment does not keep the former leader in the slice.
func TestCleared(t *testing.T) {
	api := newAPIServer(t)
	e := pod(api, 0)
	e.bucket = func() (string, time.Duration) { return "one", time.Second }
	e.Every = time.Hour
	ctx, term, end := electiontest.NewTerm(t, "scheduler")
	lead := e.Lead(func(ctx context.Context, _ *election.Term) error {
		natstest.Eventually(t, "the slice names the leader", 20*time.Second, func() (bool, string) {
			s, _ := api.slice("leader")
			return s.names() == "10.0.0.1", s.names()
		})
		left := 2
		api.fate = func(r *http.Request) fate { // nobody asks now
			if left--; r.Method == http.MethodPut && left >= 0 {
				return requestLost
			}
			return arrives
		}
		end(election.ErrSteppedDown)
		<-ctx.Done()
		return nil
	})
	if err := lead(ctx, term); err != nil {
		t.Fatal(err)
	}
	if s, _ := api.slice("leader"); s.names() != "" {
		t.Errorf("the slice names %s after the term", s.names())
	}
}
