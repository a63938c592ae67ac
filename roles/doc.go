// Package roles lets a process take part in any number of roles, with one connection, one session
// and one heartbeat. A role is work that one process at a time does.
//
//	m, err := roles.New(
//		roles.Config{URL: url, Bucket: "roles", BucketAutoCreate: true},
//		roles.Role{Name: "scheduler", Lead: lead},
//	)
//	if err != nil {
//		return err
//	}
//	return m.Run(ctx)
//
// [Manager.Run] does this:
//
//  1. It connects, opens the session, and takes part in all roles.
//  2. When this process has won a role, Run calls the role's Lead in a goroutine of its own. The
//     context of Lead ends with the term.
//  3. When Lead has returned, the role is given away, and the process contends for it again.
//  4. When ctx ends, Run ends all terms, waits for the work, hands the roles over and closes the
//     session.
//
// A [Manager] is a thin layer over package election. It adds the life cycle, the connection, the
// log and the health endpoints. Package election alone holds the rules, and decides which process
// leads.
//
// # Promises
//
//   - A process sends one heartbeat per interval, and has no goroutine per followed role, for any
//     number of roles.
//   - A Lead that ends, fails or panics ends its own term and nothing else; only [Fatal] ends Run.
//   - When the context of Run ends, the attachments of the session end first (running tasks have
//     assign.Config.DrainTimeout). Then the work of all roles drains concurrently, and each role is
//     given away as soon as its own work has returned. Run returns within DrainTimeout and a few
//     operations after the attachments.
//   - An outage of NATS never ends Run. Run waits until NATS is back, and continues.
//   - /readyz says whether this process can take part, not whether it leads or can reach NATS at
//     this moment.
//   - No log line, status or answer holds a fencing token.
//
// # Failures
//
// [New] refuses a wrong configuration, with all its faults and how to fix each. A permanent fault
// (bucket missing, permission denied, instance id in use) ends Run with the typed error of package
// election. Work that does not return is reported as stuck, makes the process not ready, and keeps
// its role. If it has still not returned at the end of Run, *election.UndrainedError names the
// role, which stays held until the lease has run out.
package roles
