// Package kubeapi is the way from a pod to the API server of Kubernetes: by the service account
// that is mounted into the pod. Kubernetes replaces its token often, and its certificate authority
// now and then, so both are read again when they are needed.
package kubeapi
