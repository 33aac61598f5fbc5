; The installer for Windows: for the current user only, without administrator rights; /S installs without questions,
; /D=FOLDER into another folder. The user's files in %LOCALAPPDATA%\subflow survive updates and the uninstaller.
;
; makensis -DVERSION=0.1.0 -DSRC=build/package/dist/subflow -DOUT=Subflow-0.1.0-Setup.exe -DICON=subflow.ico subflow.nsi
; installer.py calls it, and also checks that the bundle contains only what the uninstaller removes.

Unicode true
!ifdef AMD64_STUB ; offered by Debian's makensis: an installer that runs without 32-bit Wine
  Target amd64-unicode
!endif

!define APP "Subflow"
!define DATABASE_TYPE "Subflow.Database"
!define SCENARIO_TYPE "Subflow.Scenario"
!define CLASSES "Software\Classes"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\${APP}"

Name "${APP} ${VERSION}"
OutFile "${OUT}"
SetCompressor /SOLID lzma
SetCompressorDictSize 64
RequestExecutionLevel user
ManifestDPIAware true
ManifestSupportedOS Win10
InstallDir "$LOCALAPPDATA\Programs\${APP}"
InstallDirRegKey HKCU "Software\${APP}" "InstallDir"
ShowInstDetails nevershow
ShowUninstDetails nevershow

!include "MUI2.nsh"
!include "FileFunc.nsh"
!include "LogicLib.nsh"
!include "x64.nsh"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN "$INSTDIR\subflow.exe"
!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"

LangString IsRunning ${LANG_ENGLISH} "${APP} is running. Close it, then try again."
LangString IsRunning ${LANG_GERMAN} "${APP} läuft. Beenden Sie es und versuchen Sie es noch einmal."
LangString NeedsX64 ${LANG_ENGLISH} "${APP} needs a 64-bit Windows."
LangString NeedsX64 ${LANG_GERMAN} "${APP} braucht ein 64-Bit-Windows."
LangString DatabaseName ${LANG_ENGLISH} "Subflow database"
LangString DatabaseName ${LANG_GERMAN} "Subflow-Datenbank"
LangString ScenarioName ${LANG_ENGLISH} "Subflow scenario"
LangString ScenarioName ${LANG_GERMAN} "Subflow-Szenario"
LangString InUse ${LANG_ENGLISH} "$INSTDIR holds files that are not ${APP}'s. Choose an empty folder or a new one."
LangString InUse ${LANG_GERMAN} "In $INSTDIR liegen Dateien, die nicht zu ${APP} gehören. Wählen Sie einen leeren oder neuen Ordner."

VIProductVersion "${VERSION}.0"
VIAddVersionKey /LANG=${LANG_ENGLISH} "ProductName" "${APP}"
VIAddVersionKey /LANG=${LANG_ENGLISH} "ProductVersion" "${VERSION}"
VIAddVersionKey /LANG=${LANG_ENGLISH} "FileVersion" "${VERSION}"
VIAddVersionKey /LANG=${LANG_ENGLISH} "FileDescription" "${APP} installer"
VIAddVersionKey /LANG=${LANG_ENGLISH} "CompanyName" "Subflow contributors"
VIAddVersionKey /LANG=${LANG_ENGLISH} "LegalCopyright" "MIT license"

; A running program cannot be opened for writing. Ends with exit code 2 before any change.
!macro StopIfRunning
  ${If} ${FileExists} "$INSTDIR\subflow.exe"
    ClearErrors
    FileOpen $0 "$INSTDIR\subflow.exe" a
    ${If} ${Errors}
      MessageBox MB_OK|MB_ICONEXCLAMATION "$(IsRunning)" /SD IDOK
      SetErrorLevel 2
      Quit
    ${EndIf}
    FileClose $0
  ${EndIf}
!macroend

Function .onInit
  ${IfNot} ${RunningX64}
    MessageBox MB_OK|MB_ICONSTOP "$(NeedsX64)" /SD IDOK
    SetErrorLevel 2
    Quit
  ${EndIf}
FunctionEnd

Section "Install"
  !insertmacro StopIfRunning
  ; Update a folder with Subflow, fill an empty or new folder, and refuse any other: it contains files of the user.
  ${IfNot} ${FileExists} "$INSTDIR\subflow.exe"
    ${DirState} "$INSTDIR" $0
    ${If} $0 == 1
      MessageBox MB_OK|MB_ICONSTOP "$(InUse)" /SD IDOK
      SetErrorLevel 2
      Quit
    ${EndIf}
  ${EndIf}

  SetOutPath "$INSTDIR"
  RMDir /r "$INSTDIR\_internal" ; removes modules of the last version
  File /r "${SRC}\*" ; NSIS on Windows finds nothing with a forward slash
  WriteUninstaller "$INSTDIR\Uninstall.exe"
  CreateShortcut "$SMPROGRAMS\${APP}.lnk" "$INSTDIR\subflow.exe"
  WriteRegStr HKCU "Software\${APP}" "InstallDir" "$INSTDIR"

  ; A double click on a database opens Subflow. TOML files stay with editors: Subflow becomes a choice of "Open with".
  WriteRegStr HKCU "${CLASSES}\${DATABASE_TYPE}" "" "$(DatabaseName)"
  WriteRegStr HKCU "${CLASSES}\${DATABASE_TYPE}\DefaultIcon" "" "$INSTDIR\subflow.exe,0"
  WriteRegStr HKCU "${CLASSES}\${DATABASE_TYPE}\shell\open\command" "" '"$INSTDIR\subflow.exe" "%1"'
  WriteRegStr HKCU "${CLASSES}\.subflow" "" "${DATABASE_TYPE}"
  WriteRegStr HKCU "${CLASSES}\.subflow\OpenWithProgids" "${DATABASE_TYPE}" ""
  WriteRegStr HKCU "${CLASSES}\${SCENARIO_TYPE}" "" "$(ScenarioName)"
  WriteRegStr HKCU "${CLASSES}\${SCENARIO_TYPE}\DefaultIcon" "" "$INSTDIR\subflow.exe,0"
  WriteRegStr HKCU "${CLASSES}\${SCENARIO_TYPE}\shell\open\command" "" '"$INSTDIR\subflow.exe" "%1"'
  WriteRegStr HKCU "${CLASSES}\.toml\OpenWithProgids" "${SCENARIO_TYPE}" ""

  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "${APP}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\subflow.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "Subflow contributors"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\Uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\Uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  IntFmt $0 "0x%08X" $0
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" "$0"
  ${RefreshShellIcons}
SectionEnd

Section "Uninstall"
  !insertmacro StopIfRunning
  Delete "$SMPROGRAMS\${APP}.lnk"
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\subflow.exe"
  Delete "$INSTDIR\subflow-cli.exe"
  Delete "$INSTDIR\Uninstall.exe"
  SetOutPath "$TEMP" ; the current folder of a process cannot be removed
  RMDir "$INSTDIR" ; only if empty: other files belong to the user

  ReadRegStr $0 HKCU "${CLASSES}\.subflow" ""
  ${If} $0 == "${DATABASE_TYPE}"
    DeleteRegValue HKCU "${CLASSES}\.subflow" ""
  ${EndIf}
  DeleteRegValue HKCU "${CLASSES}\.subflow\OpenWithProgids" "${DATABASE_TYPE}"
  DeleteRegKey /ifempty HKCU "${CLASSES}\.subflow\OpenWithProgids"
  DeleteRegKey /ifempty HKCU "${CLASSES}\.subflow"
  DeleteRegValue HKCU "${CLASSES}\.toml\OpenWithProgids" "${SCENARIO_TYPE}"
  DeleteRegKey /ifempty HKCU "${CLASSES}\.toml\OpenWithProgids"
  DeleteRegKey /ifempty HKCU "${CLASSES}\.toml"
  DeleteRegKey HKCU "${CLASSES}\${DATABASE_TYPE}"
  DeleteRegKey HKCU "${CLASSES}\${SCENARIO_TYPE}"
  DeleteRegKey HKCU "Software\${APP}"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  ${RefreshShellIcons}
SectionEnd
