// Package kube tells Kubernetes which pod leads a role, so that a Service leads there.
//
//	e := &kube.LeaderEndpoint{
//		Session: m.Session(), Service: "scheduler-leader", Ports: []kube.Port{{Name: "http", Port: 8080}},
//	}
//	err := m.Add(roles.Role{Name: "scheduler", Lead: e.Lead(lead)})
//
// [LeaderEndpoint] keeps the one EndpointSlice of a Service without a selector. [LeaderLabel]
// labels the pod that leads, for people. Both talk to the API server with net/http and the service
// account of the pod.
//
// # Promises
//
//   - The slice of a leader Service names one pod or none.
//   - Within one bucket the epoch of the slice never decreases: a former leader that was cut off
//     cannot take the Service back. A write is refused unless the slice still has the
//     resourceVersion that was read. Annotations of the slice hold the id of the bucket and the
//     epoch.
//   - A leader of another bucket, such as one that was recreated, replaces the slice once it has
//     not changed for the longer TTL of both.
//   - The slice is empty before the role is given away, if the API server answers in time.
//   - An API server that does not answer never keeps a process from leading, and keeps no role for
//     longer than two seconds.
//
// # What is not promised
//
// Traffic follows the slice some time later: nodes learn of it from the API server, and connections
// stay where they are. A pod that was cut off from both NATS and the API server gets traffic until
// another one leads. So a request that only the leader may serve needs a check with
// [election.Term.Valid], and its effects need the fencing token.
package kube
