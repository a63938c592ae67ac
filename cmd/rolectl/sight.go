package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// sight is a bucket as the reading commands see it: an observer for what it means, a ledger for what stands there.
type sight struct {
	*election.Observer
	*ledger
}

// look opens the bucket; read-only permissions suffice. Who may not watch workers is shown the others. ctx bounds the opening
// only.
func (a *app) look(ctx context.Context, workers bool, wrote func(record)) (*sight, error) {
	nc, err := a.connect()
	if err != nil {
		return nil, err
	}
	bucket := a.bucket
	var options []election.ObserveOption
	if workers {
		options = append(options, election.WithWorkers())
	}
	o, err := election.Observe(ctx, nc, bucket, options...)
	if workers && errors.Is(err, election.ErrPermission) {
		if o, err = election.Observe(ctx, nc, bucket); err == nil {
			workers = false
			a.say("worker-only members are not shown: this user may not watch the whole bucket")
		}
	}
	if err != nil {
		return nil, err
	}
	l, err := openLedger(ctx, nc, bucket, workers, wrote)
	if err != nil {
		o.Close()
		return nil, err
	}
	return &sight{o, l}, nil
}

func (s *sight) Close() {
	s.Observer.Close()
	s.ledger.Close()
}

// roleDoc is a role in JSON documents.
type roleDoc struct {
	Role     string  `json:"role"`
	Leader   string  `json:"leader"` // "" for nobody
	Epoch    uint64  `json:"epoch,omitempty"`
	Session  uint64  `json:"session,omitempty"`
	Age      float64 `json:"age_seconds"`                     // of the record as it stands
	Beat     float64 `json:"heartbeat_age_seconds,omitempty"` // of the leader's lease
	TTL      float64 `json:"ttl_seconds,omitempty"`
	Priority int     `json:"priority"`

	Successor  string               `json:"successor"`
	Candidates []election.Candidate `json:"candidates"`

	Vacant     bool   `json:"vacant,omitempty"`
	By         string `json:"vacated_by,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Next       string `json:"next,omitempty"`
	Unreadable bool   `json:"unreadable,omitempty"`

	age, beat time.Duration
	ttl       time.Duration
	newer     bool // unreadable, because a later version wrote it
}

// role describes one of them.
func (s *sight) role(info election.RoleInfo) roleDoc {
	d := roleDoc{
		Role: info.Role, Leader: info.Leader, Epoch: info.Epoch, Session: info.Session, TTL: show.Seconds(info.TTL),
		Priority: info.Priority, Successor: info.Successor, Candidates: info.Candidates, Vacant: info.Vacant, By: info.By,
		Reason: info.Reason, Next: info.Next, Unreadable: info.Unreadable, age: info.Since, beat: -1, ttl: info.TTL,
	}
	if d.Candidates == nil {
		d.Candidates = []election.Candidate{}
	}
	if r, ok := s.record(protocol.RoleKey(info.Role)); ok && r.Revision == info.Revision {
		d.age, d.newer = s.age(r), r.Form == protocol.FormNewer
	}
	if info.Leader != "" {
		if r, ok := s.record(protocol.LeaseKey(protocol.Peer{Class: protocol.Candidate, Instance: info.Leader})); ok {
			d.beat = s.age(r)
			d.Beat = show.Seconds(d.beat)
		}
	}
	d.Age = show.Seconds(d.age)
	return d
}

// roles describes all of them, or those that are named. Errors: one of those is not there.
func (s *sight) roles(names ...string) ([]roleDoc, error) {
	infos := s.Roles()
	if len(names) > 0 {
		for _, name := range names {
			if !slices.ContainsFunc(infos, func(i election.RoleInfo) bool { return i.Role == name }) {
				return nil, s.unknownRole(name)
			}
		}
		infos = slices.DeleteFunc(infos, func(i election.RoleInfo) bool { return !slices.Contains(names, i.Role) })
	}
	docs := make([]roleDoc, 0, len(infos))
	for _, info := range infos {
		docs = append(docs, s.role(info))
	}
	return docs, nil
}

func (s *sight) unknownRole(name string) error {
	var known []string
	for _, i := range s.Roles() {
		known = append(known, i.Role)
	}
	if len(known) == 0 {
		return usage(fmt.Errorf("no role %q in bucket %s: nobody has taken part in any yet", name, s.Observer.Bucket()))
	}
	return usage(fmt.Errorf("no role %q in bucket %s: there are %s", name, s.Observer.Bucket(), some(known)))
}
