package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

func members(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "members", Aliases: []string{"member"}, Short: "Show the processes that have a session, workers included",
		Example: "  rolectl members\n  rolectl members -o wide\n  rolectl members -o json | jq '.members[] | select(.draining)'",
		Args:    takes,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel, _, err := a.asking(cmd)
			if err != nil {
				return err
			}
			defer cancel()
			s, err := a.look(ctx, true, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			return a.printer().Print(memberTable(a.bucket, s.members()))
		},
	}
}

// memberDoc is a member in JSON documents.
type memberDoc struct {
	Instance   string                        `json:"instance"`
	Session    uint64                        `json:"session"`
	State      string                        `json:"state"` // active, idle, draining, silent
	WorkerOnly bool                          `json:"worker_only"`
	Beat       float64                       `json:"heartbeat_age_seconds"`
	TTL        float64                       `json:"ttl_seconds"`
	Leads      []string                      `json:"leads"`
	Roles      []string                      `json:"roles"`
	Meta       map[string]string             `json:"meta,omitempty"`
	Assign     map[string]election.Workplace `json:"assign,omitempty"`
	Draining   bool                          `json:"draining"`
	Described  bool                          `json:"described"` // its member record was seen: roles and meta mean something

	beat, ttl time.Duration
}

func (s *sight) members() []memberDoc {
	leads := map[string][]string{}
	for _, r := range s.Roles() {
		if r.Leader != "" {
			leads[r.Leader] = append(leads[r.Leader], r.Role)
		}
	}
	infos := s.Members()
	docs := make([]memberDoc, 0, len(infos))
	for _, m := range infos {
		d := memberDoc{
			Instance: m.Instance, Session: m.Session, WorkerOnly: m.WorkerOnly, TTL: show.Seconds(m.TTL), Roles: orEmpty(m.Roles),
			Meta: m.Meta, Assign: m.Assign, Draining: m.Draining, Described: m.Described, beat: m.LastSeen, ttl: m.TTL,
			Leads: []string{},
		}
		class := protocol.Candidate
		if m.WorkerOnly {
			class = protocol.Worker
		} else {
			d.Leads = orEmpty(leads[m.Instance])
		}
		if r, ok := s.record(protocol.LeaseKey(protocol.Peer{Class: class, Instance: m.Instance})); ok {
			d.beat = s.age(r)
		}
		d.Beat = show.Seconds(d.beat)
		switch {
		case d.beat > m.TTL:
			d.State = "silent"
		case m.Draining:
			d.State = "draining"
		case m.Idle:
			d.State = "idle"
		default:
			d.State = "active"
		}
		docs = append(docs, d)
	}
	return docs
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func memberTable(bucket string, docs []memberDoc) show.Table {
	t := show.Table{
		Columns: []string{"INSTANCE", "STATE", "LEADS", "HEARTBEAT", "TTL", "ROLES"},
		Wide:    []string{"SESSION", "TASKS", "META"},
		Empty:   "no members in bucket " + bucket,
		JSON: struct {
			show.Document
			Bucket  string      `json:"bucket"`
			Members []memberDoc `json:"members"`
		}{show.Of("members"), bucket, docs},
	}
	for _, d := range docs {
		tone := show.Plain
		if d.State == "silent" {
			tone = show.Bad
		}
		part := strings.Join(d.Roles, ",")
		if d.WorkerOnly {
			part = "worker only"
		}
		t.Rows = append(t.Rows, show.Row{
			Name: d.Instance, Tone: tone,
			Cells: []string{d.Instance, d.State, strings.Join(d.Leads, ","), show.Age(d.beat), show.Age(d.ttl), part},
			Wide:  []string{fmt.Sprint(d.Session), d.tasks(), pairs(d.Meta)},
		})
	}
	return t
}

func (d memberDoc) tasks() string {
	var all []string
	for _, ns := range slices.Sorted(maps.Keys(d.Assign)) {
		all = append(all, fmt.Sprintf("%s:%d", ns, d.Assign[ns].Slots))
	}
	return strings.Join(all, ",")
}

func pairs(m map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, k+"="+m[k])
	}
	return strings.Join(all, ",")
}
