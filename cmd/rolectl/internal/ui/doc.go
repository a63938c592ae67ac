// Package ui holds the command "rolectl ui": it serves the page of package dashboard.
package ui
