// Command grafana writes rolemanager.json, a dashboard that Grafana imports as it is:
//
//	go run ./deploy/grafana
//
// Its panels are the list in panels.go. A test keeps the file equal to it, and deploy/check asks
// Prometheus' own parser about each query.
package main
