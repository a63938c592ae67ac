// Package apiserver runs a real API server of Kubernetes over a real etcd, for tests. Both listen
// on the loopback interface only. There is no node, and no controller of Kubernetes.
//
// The binaries are named by the environment: ROLEMANAGER_APISERVER, and ROLEMANAGER_ETCD, or the
// etcd of PATH. The program below it builds them.
package apiserver
