/* SPDX-License-Identifier: MIT */
/* The one header that programs include; each concept has its own below it. */

#ifndef PORTPROF_H
#define PORTPROF_H

#include <portprof/backend.h>
#include <portprof/catalogue.h>
#include <portprof/config.h>
#include <portprof/event.h>
#include <portprof/exec.h>
#include <portprof/export.h>
#include <portprof/gmon.h>
#include <portprof/group.h>
#include <portprof/label.h>
#include <portprof/profile.h>
#include <portprof/record.h>
#include <portprof/region.h>
#include <portprof/session.h>
#include <portprof/sink.h>
#include <portprof/status.h>
#include <portprof/version.h>

#endif /* PORTPROF_H */
