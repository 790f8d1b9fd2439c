/* doc_page.h - the frame of a page, made at build time by scripts/embed.py.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A page is head, the title, body, the content, tail. */
#ifndef WR_REPORT_DOC_PAGE_H
#define WR_REPORT_DOC_PAGE_H

extern const char wr_page_head[], wr_page_body[], wr_page_tail[];

#endif
