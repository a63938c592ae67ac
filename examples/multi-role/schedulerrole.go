package main

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
)

const (
	schedulerRole = "scheduler"
	slots         = 4 // tasks that one instance runs at a time
)

// scheduler is the work of the scheduler role, and an instance's part in the tasks: as leader it hands them out, and as a
// follower (and as leader, too) it runs what it is handed.
type scheduler struct {
	tasks   *assign.Assigner
	job     *job
	running atomic.Int32 // handlers
}

// takePart is a session's part in the tasks, for as long as it has a lease.
func takePart(session *election.Session, namespace string, replicas int) (*assign.Assigner, error) {
	return assign.New(session, assign.Config{
		Namespace: namespace, Role: schedulerRole, Slots: slots, StreamAutoCreate: true, Replicas: replicas,
	})
}

// attach makes it take part.
func (s *scheduler) attach(session *election.Session, o options) (err error) {
	if s.tasks, err = takePart(session, o.bucket, o.replicas); err != nil {
		return err
	}
	return errors.Join(assign.Handle(s.tasks, checksum, s.handle), assign.Handle(s.tasks, inventory, count))
}

// lead is a Role.Lead.
func (s *scheduler) lead(ctx context.Context, t *election.Term) error { return s.tasks.Lead(ctx, t) }

// handle runs one task.
func (s *scheduler) handle(ctx context.Context, t *assign.Task[checksumIn]) (checksumOut, error) {
	s.job.started(t)
	defer s.job.touch()
	s.running.Add(1)
	defer s.running.Add(-1)
	return checksumFile(ctx, t)
}
