/* zip_format.h - signatures and lengths of the records in a ZIP file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_ZIP_FORMAT_H
#define WR_FORMAT_ZIP_FORMAT_H

#define WR_ZIP_END_SIG     0x06054b50u /* end of the directory */
#define WR_ZIP_END_LEN     22u
#define WR_ZIP_END64_SIG   0x06064b50u
#define WR_ZIP_END64_LEN   56u
#define WR_ZIP_LOCATOR_SIG 0x07064b50u /* where the record of 64 bits lies */
#define WR_ZIP_LOCATOR_LEN 20u
#define WR_ZIP_ENTRY_SIG   0x02014b50u /* of the directory */
#define WR_ZIP_ENTRY_LEN   46u
#define WR_ZIP_LOCAL_SIG   0x04034b50u /* in front of a member */
#define WR_ZIP_LOCAL_LEN   30u
#define WR_ZIP_EXTRA64     1u /* tag of the extra field with 64-bit sizes */

#endif
