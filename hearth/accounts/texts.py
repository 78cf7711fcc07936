"""Texts of allauth for which Hearth has its own translations.

The German texts of allauth mix "du" and "Sie", and some use other words than Hearth. The
translations in `locale/` take precedence over those of allauth.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

TEXTS_OF_ALLAUTH = (
    _("Be patient, you are sending too many requests."),
    _("Please Confirm Your Email Address"),
    _("Please type your current password."),
    _("Thank you for using %(site_name)s!\n%(site_domain)s"),
    _("The username and/or password you specified are not correct."),
    _("Too many failed login attempts. Try again later."),
    _("Use authenticator app or code"),
    _("Use your password"),
    _("You cannot add more than %d email addresses."),
    _("You cannot remove your primary email address (%(email)s)."),
    _("You cannot remove your primary email address."),
    _("You have confirmed %(email)s."),
    _("You have signed out."),
    _("You must type the same password each time."),
    _("Your primary email address must be verified."),
)
