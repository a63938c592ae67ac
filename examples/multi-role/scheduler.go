package main

import (
	"errors"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
)

// schedulerRole is the role whose leader hands out the tasks. Every member runs them, the leader,
// too.
const schedulerRole = "scheduler"

// newTasks is the part of one session in the tasks. Its Lead is the work of the scheduler role. Its
// handlers run what this process is given, for as long as the session has a lease.
func newTasks(session *election.Session, c config) (*assign.Assigner, error) {
	tasks, err := assign.New(session, assign.Config{
		Namespace: c.Bucket, Role: schedulerRole, Slots: c.Slots,
		StreamAutoCreate: true, Replicas: c.Replicas, Middleware: c.Middleware,
	})
	if err != nil {
		return nil, err
	}
	return tasks, errors.Join(
		assign.Handle(tasks, checksum, checksumFile),
		assign.Handle(tasks, inventory, takeInventory))
}
