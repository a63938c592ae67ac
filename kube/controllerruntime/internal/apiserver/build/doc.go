// Command build makes the kube-apiserver and the etcd of the tests, from the module proxy. It takes
// some minutes and a gigabyte of memory, and prints what to put into the environment:
//
//	cd kube/controllerruntime && go run ./internal/apiserver/build -o /tmp/kubernetes
package main
