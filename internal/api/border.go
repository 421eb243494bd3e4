package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// public is a value as it leaves this machine: without what is tagged hidden, with lists that are never null, and with
// each text as tell gives it, which takes the folders of this machine out. What has a JSON of its own stays as it is.
func public(v reflect.Value, tell func(string) string) reflect.Value {
	t := v.Type()
	if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return v
	}
	switch {
	case t.Kind() == reflect.String && tell != nil:
		told := reflect.New(t).Elem()
		told.SetString(tell(v.String()))
		return told
	case t.Kind() == reflect.Pointer && !v.IsNil():
		copied := reflect.New(t.Elem())
		copied.Elem().Set(public(v.Elem(), tell))
		return copied
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		all := reflect.MakeSlice(t, v.Len(), v.Len())
		for i := range v.Len() {
			all.Index(i).Set(public(v.Index(i), tell))
		}
		return all
	case t.Kind() == reflect.Struct:
		copied := reflect.New(t).Elem()
		copied.Set(v)
		for i := range t.NumField() {
			switch f := t.Field(i); {
			case !f.IsExported():
			case f.Tag.Get("hidden") != "":
				copied.Field(i).SetZero()
			default:
				copied.Field(i).Set(public(v.Field(i), tell))
			}
		}
		return copied
	}
	return v
}

// encoded is a value as public has it, in JSON.
func encoded(value any, tell func(string) string) ([]byte, error) {
	return json.Marshal(public(reflect.ValueOf(value), tell).Interface())
}

// without takes folders of this machine out of a text: what is in them keeps its name.
func without(folders ...string) func(text string) string {
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one before those that it lies in
	var told []string
	for _, folder := range folders {
		told = append(told, folder+string(filepath.Separator), "", folder, fmt.Sprintf("the folder “%s”", filepath.Base(folder)))
	}
	return strings.NewReplacer(told...).Replace
}
